"""Texts as bytes, and bytes as texts."""

import pathlib

import pytest

from frontends import tf


def test_both_ways():
    assert tf.compat.as_bytes("ä") == tf.compat.as_bytes("ä".encode()) == "ä".encode()
    assert tf.compat.as_bytes(bytearray(b"a")) == b"a"
    assert tf.compat.as_text("ä".encode()) == tf.compat.as_str("ä") == "ä"


@pytest.mark.parametrize("convert", [tf.compat.as_bytes, tf.compat.as_text])
def test_others(convert):
    with pytest.raises(TypeError, match="got 3"):
        convert(3)


def test_paths_and_other_values():
    assert tf.compat.path_to_str(pathlib.Path("a")) == "a"
    assert tf.compat.as_str_any(1.5) == "1.5"
    assert isinstance(1, tf.compat.integral_types)
