"""What tables are filled with; tests/golden compares with TensorFlow."""

import re
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


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((tf.string, -3, tf.int64, INDEX.LINE_NUMBER), "index of a column: -3. Write a number"),
        ((tf.string, INDEX.LINE_NUMBER, tf.int64, 0), "no tf.string: write tf.int64"),
        ((tf.float32, INDEX.WHOLE_LINE, tf.int64, 0), "no tf.float32: write tf.string"),
    ],
)
def test_columns_and_dtypes_fit(columns, message):
    with pytest.raises(ValueError, match=f"TextFileInitializer: .*{re.escape(message)}"):
        tf.lookup.TextFileInitializer("f", *columns)


def test_lines_have_the_column(tmp_path):
    (tmp_path / "words").write_bytes(b"fig\t1\nplum\n")
    words = tf.lookup.TextFileInitializer(str(tmp_path / "words"), tf.string, 0, tf.int64, 1)
    with pytest.raises(ValueError, match=r"line 1: 1, .*1 is asked for.*delimiter='\\t'"):
        words.pairs()
