"""Reading pictures with Pillow: what kind a file is of, its pixels, and their channels."""

import importlib
import io
from collections.abc import Callable
from typing import Any

import numpy as np

# What files of a kind begin with.
SIGNATURES = {
    "JPEG": b"\xff\xd8\xff",
    "PNG": b"\x89PNG\r\n\x1a\n",
    "GIF": b"GIF8",
    "BMP": b"BM",
    "WEBP": b"RIFF",
}
# How libpng weighs red and green for gray, in parts of 32768; the rest is blue.
_RED, _GREEN = 9797, 19234
_PLAIN = ("L", "LA", "RGB", "RGBA")


def pillow() -> Any:
    """Imports `PIL.Image`.

    Raises:
        ModuleNotFoundError: Pillow is not installed.
    """
    try:
        return importlib.import_module("PIL.Image")
    except ImportError as error:
        raise ModuleNotFoundError(
            f"Decoding and encoding pictures needs Pillow, which is not installed ({error}). Install it: "
            'pip install "jaxtribute[images]"'
        ) from None


def kind_of(function: str, data: bytes, kinds: tuple[str, ...]) -> str:
    """Finds out of which kind a file is.

    Args:
        function: TensorFlow's name of it, for the error.
        data: the file.
        kinds: those that the function takes.

    Raises:
        ValueError: it is none of these.
    """
    found = next((kind for kind, start in SIGNATURES.items() if data.startswith(start)), None)
    if found in kinds:
        return found
    what = f"a {found}" if found else f"{len(data)} bytes that begin with {data[:8]!r}"
    wanted = " or ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1])))
    raise ValueError(f"{function}: expected a {wanted}, got {what}.")


def opened(function: str, data: bytes, kind: str) -> Any:
    """Opens a picture, which Pillow decodes later.

    Raises:
        ValueError: it is damaged.
    """
    image = pillow()
    return checked(function, kind, lambda: image.open(io.BytesIO(data), formats=(kind,)))


def checked(function: str, kind: str, read: Callable[[], Any]) -> Any:
    """Reads with Pillow.

    Raises:
        ValueError: the picture is damaged; what Pillow raises then depends on the kind and the place.
    """
    try:
        return read()
    except (
        OSError,
        SyntaxError,
        ValueError,
        LookupError,
        TypeError,
        EOFError,
        ArithmeticError,
    ) as error:
        raise ValueError(f"{function}: this {kind} cannot be decoded: {error}") from None


def pixels_of(function: str, kind: str, picture: Any) -> np.ndarray[Any, Any]:
    """Decodes a picture.

    Returns:
        uint8, of shape `[height, width, channels]`, with one channel for gray, three for colours, and one more for
        transparency.

    Raises:
        ValueError: it is damaged.
    """
    checked(function, kind, picture.load)
    clear = "transparency" in picture.info
    if picture.mode not in _PLAIN:
        if picture.mode == "1":
            mode = "L"
        else:
            mode = "RGBA" if clear or picture.mode == "PA" else "RGB"
        picture = picture.convert(mode)
    elif clear and picture.mode in ("L", "RGB"):
        picture = picture.convert(picture.mode + "A")
    pixels = np.asarray(picture)
    return pixels if pixels.ndim == 3 else pixels[..., None]


def frames_of(
    function: str, kind: str, picture: Any, most: int | None = None
) -> np.ndarray[Any, Any]:
    """Decodes the frames of an animation.

    Args:
        function: TensorFlow's name of it, for the error.
        kind: of the file.
        picture: what `opened` returned.
        most: how many frames; None for all.

    Returns:
        uint8, of shape `[frames, height, width, 3]`.

    Raises:
        ValueError: it is damaged.
    """

    def read() -> list[np.ndarray[Any, Any]]:
        found = []
        for number in range(min(picture.n_frames, most or picture.n_frames)):
            picture.seek(number)
            found.append(np.asarray(picture.convert("RGB")))
        return found

    return np.stack(checked(function, kind, read))


def with_channels(pixels: np.ndarray[Any, Any], channels: int) -> np.ndarray[Any, Any]:
    """Converts pixels to a number of channels, as libpng does; 0 leaves them as they are."""
    count = pixels.shape[-1]
    if channels in (0, count):
        return pixels
    colored, clear = count >= 3, count in (2, 4)
    colors = pixels[..., :3] if colored else pixels[..., :1]
    if channels == 1:
        return _gray(colors) if colored else colors
    colors = colors if colored else np.repeat(colors, 3, -1)
    if channels == 3:
        return colors
    opaque = np.full((*pixels.shape[:-1], 1), np.iinfo(pixels.dtype).max, pixels.dtype)
    return np.concatenate([colors, pixels[..., -1:] if clear else opaque], -1)


def _gray(colors: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    weights = np.asarray([_RED, _GREEN, 32768 - _RED - _GREEN], np.uint32)
    return ((colors.astype(np.uint32) @ weights) >> 15).astype(colors.dtype)[..., None]
