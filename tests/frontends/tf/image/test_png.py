"""PNG with 16 bits a channel; the recorded results read a file that Pillow wrote."""

import zlib

import numpy as np
import pytest

from frontends.tf.image import png

PIXELS = np.random.RandomState(0).randint(0, 65536, (5, 7, 3)).astype(np.uint16)


def filtered(kind):
    """A file of PIXELS whose rows are all filtered in one way."""
    lines = PIXELS.astype(">u2").reshape(5, -1).view(np.uint8).astype(int)
    left = np.pad(lines, ((0, 0), (6, 0)))[:, :-6]
    up = np.pad(lines, ((1, 0), (0, 0)))[:-1]
    corner = np.pad(up, ((0, 0), (6, 0)))[:, :-6]
    estimate = left + up - corner
    distances = [abs(estimate - each) for each in (left, up, corner)]
    paeth = np.select(
        [
            (distances[0] <= distances[1]) & (distances[0] <= distances[2]),
            distances[1] <= distances[2],
        ],
        [left, up],
        corner,
    )
    guess = [0, left, up, (left + up) // 2, paeth][kind]
    body = np.concatenate([np.full((5, 1), kind), (lines - guess) % 256], 1).astype(np.uint8)
    plain = png.write_wide(PIXELS, 0)
    start = plain.index(b"IDAT")
    packed = zlib.compress(body.tobytes())
    return (
        plain[: start - 4]
        + len(packed).to_bytes(4, "big")
        + b"IDAT"
        + packed
        + b"\0" * 4
        + plain[-12:]
    )


@pytest.mark.parametrize("kind", range(5))
def test_filters(kind):
    np.testing.assert_array_equal(png.read_wide(filtered(kind)), PIXELS)


def test_there_and_back():
    for channels in (1, 2, 3):
        data = png.write_wide(PIXELS[..., :channels], -1)
        assert png.is_wide(data)
        np.testing.assert_array_equal(png.read_wide(data), PIXELS[..., :channels])


def test_damage_is_an_error():
    data = png.write_wide(PIXELS, -1)
    for broken in (data[:60], data.replace(b"IDAT", b"XDAT")):
        with pytest.raises(ValueError, match="This PNG is damaged"):
            png.read_wide(broken)
