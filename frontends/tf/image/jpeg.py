"""Reading and writing JPEG: with simplejpeg if it is installed, else with Pillow.

TensorFlow decodes with an inverse transform that is fast and less accurate. simplejpeg can do the same, so that pixels are
equal; Pillow's is the accurate one, and pixels differ by up to 6 levels of 255, by one on average. Both let other
threads run meanwhile.
"""

import functools
import importlib
import io
from typing import Any, NamedTuple

import numpy as np

from frontends.tf.image.pictures import checked, opened, pillow

_CHANNELS = {"L": 1, "RGB": 3, "CMYK": 4}
_ACCURATE = "INTEGER_ACCURATE"


class JpegOptions(NamedTuple):
    """How to decode.

    Attributes:
        channels: 1 or 3; 0 for what the file has.
        ratio: 1, 2, 4 or 8: how many times smaller the result is.
        fancy_upscaling: whether colours of fewer pixels are interpolated.
        recover: whether to decode what there is of a file that was cut off.
        dct_method: `"INTEGER_ACCURATE"`, or anything else for the fast one.
    """

    channels: int = 0
    ratio: int = 1
    fancy_upscaling: bool = True
    recover: bool = False
    dct_method: str = ""


DEFAULT = JpegOptions()


def read_jpeg(function: str, data: bytes, options: JpegOptions = DEFAULT) -> np.ndarray[Any, Any]:
    """Decodes a JPEG.

    Args:
        function: TensorFlow's name of it, for errors.
        data: the file.
        options: how.

    Returns:
        uint8, of shape `[height, width, channels]`.

    Raises:
        ValueError: the file is damaged, or an option is out of range.
    """
    if options.channels not in (0, 1, 3) or options.ratio not in (1, 2, 4, 8):
        raise ValueError(
            f"{function}: expected channels of 0, 1 or 3 and a ratio of 1, 2, 4 or 8, got {options.channels} and "
            f"{options.ratio}."
        )
    library = _simplejpeg()
    if library is not None:
        pixels = _read_fast(library, function, data, options)
        if pixels is not None:
            return pixels
    return _read_with_pillow(function, data, options)


def jpeg_shape(function: str, data: bytes) -> tuple[int, int, int]:
    """Reads height, width and channels, without decoding.

    Raises:
        ValueError: the file is damaged.
    """
    picture = opened(function, data, "JPEG")
    return picture.height, picture.width, _CHANNELS[picture.mode]


def write_jpeg(pixels: np.ndarray[Any, Any], **options: Any) -> bytes:
    """Encodes uint8 of shape `[height, width, channels]`, with one or three channels, by Pillow's options."""
    out = io.BytesIO()
    flat = pixels[..., 0] if pixels.shape[-1] == 1 else pixels
    pillow().fromarray(np.ascontiguousarray(flat)).save(out, "JPEG", **options)
    return out.getvalue()


@functools.cache
def _simplejpeg() -> Any:
    try:
        return importlib.import_module("simplejpeg")
    except ImportError:
        return None


def _read_fast(library: Any, function: str, data: bytes, options: JpegOptions) -> Any:
    """Decodes with simplejpeg; None if it cannot do it as TensorFlow does."""
    try:
        height, width, space, _ = library.decode_jpeg_header(data, strict=False)
    except (ValueError, KeyError):  # the second one for a header that ends too soon
        return None
    if space not in ("Gray", "YCbCr", "RGB"):
        return None
    channels = options.channels or (1 if space == "Gray" else 3)
    settings: dict[str, Any] = {
        "colorspace": "GRAY" if channels == 1 else "RGB",
        "fastdct": options.dct_method != _ACCURATE,
        "fastupsample": not options.fancy_upscaling,
    }
    if options.ratio > 1:
        settings |= {
            "min_height": -(-height // options.ratio),
            "min_width": -(-width // options.ratio),
        }
    try:
        return library.decode_jpeg(data, strict=not options.recover, **settings)
    except ValueError:
        # Some damage changes nothing that matters. Pillow raises an error for what does.
        _read_with_pillow(function, data, options)
        return library.decode_jpeg(data, strict=False, **settings)


def _read_with_pillow(function: str, data: bytes, options: JpegOptions) -> np.ndarray[Any, Any]:
    # Pillow decodes what there is of a stream that has an end.
    picture = opened(function, data + b"\xff\xd9" if options.recover else data, "JPEG")
    if picture.mode == "CMYK" and options.channels == 1:
        raise ValueError(f"{function}: a JPEG of four inks cannot become gray; use channels=3.")
    if options.ratio > 1 or options.channels == 1:
        size = picture.width // options.ratio, picture.height // options.ratio
        picture.draft("L" if options.channels == 1 else None, size)
    checked(function, "JPEG", picture.load)
    if picture.mode == "CMYK":
        return _from_inks(np.asarray(picture))
    if options.channels == 3:
        picture = picture.convert("RGB")
    pixels = np.asarray(picture)
    return pixels if pixels.ndim == 3 else pixels[..., None]


def _from_inks(inks: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    light = 255 - inks.astype(np.uint16)
    return (light[..., :3] * light[..., 3:] // 255).astype(np.uint8)
