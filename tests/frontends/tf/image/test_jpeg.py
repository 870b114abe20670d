"""JPEG: with either library."""

import importlib
import types
from pathlib import Path

import numpy as np
import pytest

from frontends.tf.image import jpeg

PICTURES = Path(__file__).parents[3] / "golden" / "pictures"
DATA = (PICTURES / "rgb420.jpg").read_bytes()


def test_the_fast_transform_is_close_to_the_accurate_one():
    accurate = jpeg.read_jpeg("f", DATA, jpeg.JpegOptions(dct_method="INTEGER_ACCURATE"))
    difference = abs(jpeg.read_jpeg("f", DATA).astype(int) - accurate)
    assert difference.max() <= 6
    assert difference.mean() < 1.5


def test_what_simplejpeg_is_asked_for(monkeypatch):
    asked = []

    def decode_jpeg(data, **options):
        asked.append(options)
        return np.zeros((5, 6, 3), np.uint8)

    library = types.SimpleNamespace(
        decode_jpeg_header=lambda data, strict: (9, 11, "YCbCr", "420"), decode_jpeg=decode_jpeg
    )
    monkeypatch.setattr(jpeg, "_simplejpeg", lambda: library)
    jpeg.read_jpeg("f", DATA, jpeg.JpegOptions(ratio=2, fancy_upscaling=False))
    assert asked == [
        {
            "colorspace": "RGB",
            "fastdct": True,
            "fastupsample": True,
            "min_height": 5,
            "min_width": 6,
            "strict": True,
        }
    ]


def test_simplejpeg_gives_what_pillow_gives(monkeypatch):
    pytest.importorskip("simplejpeg")
    for name in ("rgb420.jpg", "gray.jpg", "prog.jpg", "cmyk.jpg"):
        data = (PICTURES / name).read_bytes()
        options = jpeg.JpegOptions(dct_method="INTEGER_ACCURATE")
        fast = jpeg.read_jpeg("f", data, options)
        with monkeypatch.context() as patched:
            patched.setattr(jpeg, "_simplejpeg", lambda: None)
            np.testing.assert_array_equal(jpeg.read_jpeg("f", data, options), fast)


def test_a_file_that_was_cut_off():
    cut = DATA[: len(DATA) - 40]
    with pytest.raises(ValueError, match="f: this JPEG cannot be decoded"):
        jpeg.read_jpeg("f", cut)
    assert jpeg.read_jpeg("f", cut, jpeg.JpegOptions(recover=True)).shape == (9, 11, 3)


def test_without_simplejpeg(monkeypatch):
    def missing(name):
        raise ImportError(name)

    jpeg._simplejpeg.cache_clear()
    monkeypatch.setattr(importlib, "import_module", missing)
    assert jpeg._simplejpeg() is None
    monkeypatch.undo()
    jpeg._simplejpeg.cache_clear()
