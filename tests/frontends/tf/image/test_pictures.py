"""Reading pictures with Pillow."""

import sys

import numpy as np
import pytest

from frontends.tf.image import pictures


def test_missing_pillow_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "jaxtribute\[images\]"'):
        pictures.pillow()


def test_kinds():
    assert pictures.kind_of("f", b"BM...", ("JPEG", "BMP")) == "BMP"
    with pytest.raises(ValueError, match="f: expected a JPEG, got a GIF"):
        pictures.kind_of("f", b"GIF89a", ("JPEG",))
    with pytest.raises(ValueError, match="JPEG or PNG, got 3 bytes that begin with b'abc'"):
        pictures.kind_of("f", b"abc", ("JPEG", "PNG"))


def test_channels():
    pixels = np.full((1, 1, 2), 7, np.uint8)
    assert pictures.with_channels(pixels, 1).tolist() == [[[7]]]
    assert pictures.with_channels(pixels, 3).tolist() == [[[7, 7, 7]]]
    assert pictures.with_channels(pixels, 4).tolist() == [[[7, 7, 7, 7]]]
    assert pictures.with_channels(pixels[..., :1], 4).tolist() == [[[7, 7, 7, 255]]]
    assert pictures.with_channels(np.full((1, 1, 3), 9, np.uint8), 1).tolist() == [[[9]]]
