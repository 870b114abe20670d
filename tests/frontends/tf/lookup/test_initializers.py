"""What tables are filled with; tests/golden compares with TensorFlow."""

from pathlib import Path

import pytest

from frontends import tf

INDEX = tf.lookup.TextFileIndex


def test_lines_of_a_file(tmp_path):
    path = tmp_path / "words"
    path.write_bytes(b"fig\r\nplum")
    words = tf.lookup.TextFileInitializer(
        Path(path), tf.string, INDEX.WHOLE_LINE, tf.int64, INDEX.LINE_NUMBER
    )
    assert [each.tolist() for each in words.pairs()] == [[b"fig", b"plum"], [0, 1]]


def test_as_many_values_as_keys():
    with pytest.raises(ValueError, match="got 1 and 2"):
        tf.lookup.KeyValueTensorInitializer(["a", "b"], [1])


def test_a_column_must_exist():
    with pytest.raises(ValueError, match="Invalid index of a column: -3"):
        tf.lookup.TextFileInitializer("f", tf.string, -3, tf.int64, INDEX.LINE_NUMBER)
