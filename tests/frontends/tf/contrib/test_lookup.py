"""`tf.contrib.lookup`."""

import numpy as np

from frontends import tf

lookup = tf.contrib.lookup


def test_words_and_their_numbers(tmp_path):
    path = tmp_path / "words"
    path.write_text("fig\nplum\n")
    for table in (
        lookup.index_table_from_file(str(path)),
        lookup.index_table_from_tensor(["fig", "plum"]),
    ):
        assert table.lookup(["plum", "x"]).tolist() == [1, -1]
    for table in (
        lookup.index_to_string_table_from_file(str(path)),
        lookup.index_to_string_table_from_tensor(["fig", "plum"]),
    ):
        assert table.lookup(np.array([1, 5])).tolist() == [b"plum", b"UNK"]


def test_buckets_are_those_of_the_hash():
    table = lookup.index_table_from_tensor(["fig"], num_oov_buckets=7)
    expected = 1 + tf.strings.to_hash_bucket_fast(["a", "b"], 7)
    np.testing.assert_array_equal(table.lookup(["a", "b"]), expected)
