"""BMP files."""

import io

import numpy as np
import pytest

from frontends.tf.image import bmp

image = pytest.importorskip("PIL.Image")
PIXELS = np.random.RandomState(0).randint(0, 256, (5, 7, 3)).astype(np.uint8)


def saved(pixels):
    out = io.BytesIO()
    image.fromarray(pixels).save(out, "bmp")
    return out.getvalue()


def test_reads_colors_and_gray():
    np.testing.assert_array_equal(bmp.read_bmp("f", saved(PIXELS)), PIXELS)
    np.testing.assert_array_equal(bmp.read_bmp("f", saved(PIXELS[..., 0])), PIXELS[..., :1])


def test_damage_is_an_error():
    data = saved(PIXELS)
    with pytest.raises(ValueError, match="f: this BMP ends in its header"):
        bmp.read_bmp("f", data[:20])
    with pytest.raises(ValueError, match=r"f: this BMP has .* bytes"):
        bmp.read_bmp("f", data[:-9])
    with pytest.raises(ValueError, match="of 8, 24 or 32 bits a pixel; got 16 bits"):
        bmp.read_bmp("f", data[:28] + b"\x10" + data[29:])
