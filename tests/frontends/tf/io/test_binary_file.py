"""Files that are written in a binary mode."""

import numpy as np

from frontends import tf
from frontends.tf.io.binary_file import BinaryFile


def test_they_take_texts_and_arrays(tmp_path):
    path = f"{tmp_path}/a"
    with tf.io.gfile.GFile(path, "wb") as file:
        file.write("ä")
        file.write(b"b")
        assert file.tell() == 3
    with tf.io.gfile.GFile(path, "rb") as file:
        assert list(file) == ["äb".encode()]
    with tf.io.gfile.GFile(path, "wb") as file:
        np.save(file, np.arange(3))
    assert np.load(path).tolist() == [0, 1, 2]


def test_they_are_read_as_the_files_that_they_wrap(tmp_path):
    with open(tmp_path / "a", "wb+") as plain:
        file = BinaryFile(plain)
        file.write("one\ntwo")
        file.seek(0)
        assert list(file) == [b"one\n", b"two"]
