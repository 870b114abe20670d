"""Comparisons of texts."""

import numpy as np

from frontends import tf


def test_texts_are_compared_on_the_host():
    assert tf.equal(b"yes", "yes")
    assert tf.not_equal(b"yes", "no")
    np.testing.assert_array_equal(tf.equal(["a", "b\0"], b"b\0"), [False, True])
    np.testing.assert_array_equal(tf.not_equal(np.array(["a", "b"]), "b"), [True, False])
    np.testing.assert_array_equal(tf.equal([1, 2], 2), [False, True])


def test_a_map_compares_labels(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("1,<=50K\n2,>50K\n")

    def parse(line):
        _, income = tf.io.decode_csv(line, record_defaults=[[0], [""]])
        return tf.cast(tf.equal(income, ">50K"), tf.float32)

    assert [float(label) for label in tf.data.TextLineDataset(str(file)).map(parse)] == [0, 1]
