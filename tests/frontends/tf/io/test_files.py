"""Whole files: what the recorded cases (tests/golden, records) leave out."""

import pytest

from frontends import tf


def test_files_in_a_map(tmp_path):
    for name in ("a", "b"):
        tf.io.write_file(tmp_path / f"{name}.txt", name * 3)
    names = tf.data.Dataset.list_files(str(tmp_path / "*"), shuffle=False)
    assert list(names.map(tf.io.read_file)) == [b"aaa", b"bbb"]
    pixels = names.map(lambda name: tf.io.decode_raw(tf.io.read_file(name), tf.uint8))
    assert next(iter(pixels.batch(2))).tolist() == [[97] * 3, [98] * 3]


def test_several_patterns(tmp_path):
    for name in ("a.txt", "b.csv", "c.bin"):
        (tmp_path / name).touch()
    patterns = [str(tmp_path / one) for one in ("*.csv", "*.txt", "a*")]
    found = [one.decode() for one in tf.io.matching_files(patterns).tolist()]
    assert found == [str(tmp_path / "a.txt"), str(tmp_path / "b.csv")]


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(OSError, match=str(tmp_path)):
        tf.io.read_file(str(tmp_path))


def test_files_of_a_store(bucket):
    tf.io.write_file(f"{bucket}/a/1.txt", "one")
    assert tf.io.read_file(f"{bucket}/a/1.txt") == b"one"
    assert list(tf.io.matching_files(f"{bucket}/a/*.txt")) == [f"{bucket}/a/1.txt".encode()]
