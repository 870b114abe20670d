"""Texts as bytes, and bytes as texts."""

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
