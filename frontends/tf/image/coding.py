"""Decoding and encoding pictures, on the host: `tf.io.decode_jpeg`, `encode_png` and their like.

Pillow does the work, and simplejpeg if it is there (`pip install "jaxtribute[images]"`).
"""

import io
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.dtypes import jax_dtype
from frontends.tf.image import png
from frontends.tf.image._library import given, on_host
from frontends.tf.image.bmp import read_bmp
from frontends.tf.image.conversion import converted
from frontends.tf.image.jpeg import DEFAULT, JpegOptions, jpeg_shape, read_jpeg, write_jpeg
from frontends.tf.image.pictures import (
    SIGNATURES,
    frames_of,
    kind_of,
    opened,
    pillow,
    pixels_of,
    with_channels,
)

# What TensorFlow's functions for JPEG and PNG take, and what `decode_image` takes.
_FILMS, _ALL = ("JPEG", "PNG", "GIF"), ("JPEG", "PNG", "GIF", "BMP", "WEBP")
_BYTE, _WIDE = np.dtype(np.uint8), np.dtype(np.uint16)


def decode_jpeg(
    contents: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> jax.Array:
    """Decodes a JPEG, on the host, as in a map function of a dataset.

    Args:
        contents: the bytes of the file.
        channels: 1 for gray, 3 for colours, 0 for what the file has.
        ratio: 1, 2, 4 or 8: how many times smaller the result is, which takes less time.
        fancy_upscaling: whether colours of fewer pixels are interpolated; without simplejpeg they are.
        try_recover_truncated: whether to decode what there is of a file that was cut off.
        acceptable_fraction: Ignored: any part is enough.
        dct_method: `"INTEGER_ACCURATE"`, or `"INTEGER_FAST"`, which stands for the default as well; without simplejpeg
            it is the accurate one.

    Returns:
        uint8, of shape `[height, width, channels]`. Without simplejpeg, pixels differ by up to 6 levels of 255, by one
        on average.

    Raises:
        ValueError: the bytes are no picture of a kind that TensorFlow's function takes, or are damaged; or an argument is
            none of these.

    Source: `tf.io.decode_jpeg`.
    """
    function = "tf.io.decode_jpeg"
    data = _bytes(function, contents)
    options = JpegOptions(channels, ratio, fancy_upscaling, try_recover_truncated, dct_method)
    if kind_of(function, data, _FILMS) == "JPEG":
        return given(read_jpeg(function, data, options))
    if ratio not in (1, 2, 4, 8):
        raise ValueError(f"{function}: ratio must be 1, 2, 4 or 8, got {ratio}.")
    return given(_still(function, data, channels, _BYTE, _FILMS))


def decode_and_crop_jpeg(
    contents: TensorLike,
    crop_window: TensorLike,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> jax.Array:
    """Decodes a JPEG and cuts a box out of it.

    Args:
        contents: the bytes of the file.
        crop_window: the first row and column, the height and the width.
        channels: as for `decode_jpeg`, like the other arguments.

    Returns:
        uint8, of shape `[height, width, channels]`.

    Raises:
        ValueError: as for `decode_jpeg`, or the box does not lie in the picture.

    Source: `tf.io.decode_and_crop_jpeg`.
    """
    function = "tf.io.decode_and_crop_jpeg"
    data = _bytes(function, contents)
    kind_of(function, data, ("JPEG",))
    options = JpegOptions(channels, ratio, fancy_upscaling, try_recover_truncated, dct_method)
    pixels = read_jpeg(function, data, options)
    top, left, height, width = map(int, on_host(crop_window))
    inside = top >= 0 and left >= 0 and top + height <= pixels.shape[0]
    if not (inside and left + width <= pixels.shape[1] and height > 0 and width > 0):
        raise ValueError(
            f"{function}: expected a box inside of the picture of {pixels.shape[0]} x {pixels.shape[1]} pixels, got "
            f"{height} x {width} from {top}, {left} on."
        )
    return given(pixels[top : top + height, left : left + width])


def decode_png(
    contents: TensorLike, channels: int = 0, dtype: DTypeLike = "uint8", name: str | None = None
) -> jax.Array:
    """Decodes a PNG, on the host, as in a map function of a dataset.

    Args:
        contents: the bytes of the file.
        channels: 1 for gray, 3 for colours, 4 with transparency, 0 for what the file has.
        dtype: uint8 or uint16.

    Returns:
        Pixels, of shape `[height, width, channels]`.

    Raises:
        ValueError: as for `decode_jpeg`.

    Source: `tf.io.decode_png`.
    """
    data = _bytes("tf.io.decode_png", contents)
    return given(_still("tf.io.decode_png", data, channels, np.dtype(jax_dtype(dtype)), _FILMS))


def decode_bmp(contents: TensorLike, channels: int = 0, name: str | None = None) -> jax.Array:
    """Decodes a BMP, on the host, as in a map function of a dataset.

    Args:
        contents: the bytes of the file.
        channels: 3 for colours, 4 with transparency, 0 for what the file has.

    Returns:
        uint8, of shape `[height, width, channels]`.

    Raises:
        ValueError: as for `decode_jpeg`.

    Source: `tf.io.decode_bmp`.
    """
    data = _bytes("tf.io.decode_bmp", contents)
    return given(_still("tf.io.decode_bmp", data, channels, _BYTE, ("BMP",)))


def decode_gif(contents: TensorLike, name: str | None = None) -> jax.Array:
    """Decodes all frames of a GIF, on the host, as in a map function of a dataset.

    Args:
        contents: the bytes of the file.

    Returns:
        uint8, of shape `[frames, height, width, 3]`.

    Raises:
        ValueError: as for `decode_jpeg`.

    Source: `tf.io.decode_gif`.
    """
    function = "tf.io.decode_gif"
    data = _bytes(function, contents)
    if kind_of(function, data, _FILMS) == "GIF":
        return given(frames_of(function, "GIF", opened(function, data, "GIF")))
    return given(_still(function, data, 3, _BYTE, _FILMS)[None])


def decode_webp(
    contents: TensorLike, channels: int = 0, dtype: DTypeLike = "uint8", name: str | None = None
) -> jax.Array:
    """Decodes all frames of a WebP, on the host, as in a map function of a dataset.

    Args:
        contents: the bytes of the file.
        channels: 3, or 4 with transparency; 0 stands for 3.
        dtype: uint8.

    Returns:
        uint8, of shape `[frames, height, width, channels]`.

    Raises:
        ValueError: as for `decode_jpeg`.

    Source: `tf.io.decode_webp`.
    """
    function = "tf.io.decode_webp"
    data = _bytes(function, contents)
    kind_of(function, data, ("WEBP",))
    if np.dtype(jax_dtype(dtype)) != np.uint8 or channels not in (0, 3, 4):
        raise ValueError(
            f"{function}: expected channels of 0, 3 or 4 and the dtype uint8, got {channels} and {dtype}."
        )
    frames = frames_of(function, "WEBP", opened(function, data, "WEBP"))
    return given(with_channels(frames, channels))


def decode_image(
    contents: TensorLike,
    channels: int | None = None,
    dtype: DTypeLike = "uint8",
    name: str | None = None,
    expand_animations: bool = True,
) -> jax.Array:
    """Decodes a JPEG, PNG, GIF, BMP or WebP, on the host, as in a map function of a dataset.

    Args:
        contents: the bytes of the file.
        channels: 1 for gray, 3 for colours, 4 with transparency, None or 0 for what the file has.
        dtype: of the result; floats are from 0 to 1.
        expand_animations: whether a GIF gives all its frames, with four axes.

    Returns:
        Pixels, of shape `[height, width, channels]`, or `[frames, height, width, 3]`.

    Raises:
        ValueError: as for `decode_jpeg`.

    Source: `tf.io.decode_image`.
    """
    function, target = "tf.io.decode_image", np.dtype(jax_dtype(dtype))
    data = _bytes(function, contents)
    kind = kind_of(function, data, _ALL)
    if kind in ("GIF", "WEBP") and expand_animations:
        if (channels or 3) != 3:
            raise ValueError(f"{function}: channels of a {kind} must be 0 or 3, got {channels}.")
        pixels = frames_of(function, kind, opened(function, data, kind))
    elif kind == "PNG":
        # The wider type keeps all that a file may have.
        read = _BYTE if target == _BYTE else _WIDE
        pixels = _still(function, data, channels or 0, read, _ALL)
    else:
        pixels = _still(function, data, channels or 0, _BYTE, _ALL)
    if kind != "PNG" and target not in (_BYTE, _WIDE, np.float32):
        pixels = converted(np, pixels, np.uint16)
    return given(converted(np, pixels, target))


def is_jpeg(contents: TensorLike, name: str | None = None) -> jax.Array:
    """Tells whether bytes begin as a JPEG does.

    Source: `tf.io.is_jpeg`.
    """
    return given(np.asarray(_bytes("tf.io.is_jpeg", contents).startswith(SIGNATURES["JPEG"])))


def extract_jpeg_shape(
    contents: TensorLike, output_type: DTypeLike = "int32", name: str | None = None
) -> jax.Array:
    """Reads height, width and channels of a JPEG, without decoding it.

    Args:
        contents: the bytes of the file.
        output_type: int32 or int64.

    Returns:
        Three integers.

    Raises:
        ValueError: the bytes are no JPEG.

    Source: `tf.io.extract_jpeg_shape`.
    """
    function = "tf.io.extract_jpeg_shape"
    data = _bytes(function, contents)
    kind_of(function, data, ("JPEG",))
    return given(np.asarray(jpeg_shape(function, data), jax_dtype(output_type)))


def encode_jpeg(
    image: TensorLike,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Any:
    """Encodes an image as JPEG, on the host.

    Args:
        image: uint8, of shape `[height, width, channels]`, with one or three channels.
        format: `""`, `"grayscale"` or `"rgb"`, which must be what the image is.
        quality: from 0 to 100.
        progressive: whether the file shows a coarse picture before it is read to its end.
        optimize_size: whether to take more time for a smaller file.
        chroma_downsampling: whether colours have half the resolution.
        density_unit: `"in"` or `"cm"`, of the densities.
        x_density: pixels in a unit.
        y_density: pixels in a unit.
        xmp_metadata: XML to put into the file.

    Returns:
        The bytes of the file.

    Raises:
        ValueError: the image is none of these, or an argument is out of range.

    Source: `tf.io.encode_jpeg`.
    """
    function = "tf.io.encode_jpeg"
    pixels = _to_encode(function, image, (np.uint8,), (1, 3))
    channels = {"": pixels.shape[-1], "grayscale": 1, "rgb": 3}.get(format)
    if channels != pixels.shape[-1] or not 0 <= int(quality) <= 100:
        raise ValueError(
            f'{function}: expected a format "", "grayscale" or "rgb" that is what the image is, and a quality from 0 to '
            f"100; got {format!r}, {quality} and an image of shape {pixels.shape}."
        )
    scale = 2.54 if density_unit == "cm" else 1
    options: dict[str, Any] = {"xmp": xmp_metadata.encode()} if xmp_metadata else {}
    encoded = write_jpeg(
        pixels,
        # Pillow takes 0 for its own default.
        quality=max(int(quality), 1),
        progressive=progressive,
        optimize=optimize_size,
        subsampling="4:2:0" if chroma_downsampling else "4:4:4",
        dpi=(x_density * scale, y_density * scale),
        **options,
    )
    return as_tensors(encoded)


def encode_png(image: TensorLike, compression: int = -1, name: str | None = None) -> Any:
    """Encodes an image as PNG, on the host.

    Args:
        image: uint8 or uint16, of shape `[height, width, channels]`, with one to four channels; or images of more
            axes.
        compression: from 0, the fastest, to 9; -1 leaves it open.

    Returns:
        The bytes of the file; of images with more axes, an array of such.

    Raises:
        ValueError: the image is none of these, or `compression` is out of range.

    Source: `tf.io.encode_png`.
    """
    function = "tf.io.encode_png"
    if not -1 <= int(compression) <= 9:
        raise ValueError(f"{function}: compression must be from -1 to 9, got {compression}.")
    images = on_host(image)
    if images.ndim > 3:
        found = np.empty(images.shape[:-3], object)
        for index in np.ndindex(found.shape):
            found[index] = bytes(encode_png(images[index], compression))
        return found
    pixels = _to_encode(function, images, (np.uint8, np.uint16), (1, 2, 3, 4))
    if pixels.dtype == np.uint16:
        return as_tensors(png.write_wide(pixels, int(compression)))
    out = io.BytesIO()
    flat = np.ascontiguousarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
    level = 6 if compression == -1 else int(compression)
    pillow().fromarray(flat).save(out, "PNG", compress_level=level)
    return as_tensors(out.getvalue())


def _to_encode(
    function: str, image: TensorLike, dtypes: tuple[Any, ...], channels: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    pixels = on_host(image)
    if pixels.ndim != 3 or pixels.dtype not in dtypes or pixels.shape[-1] not in channels:
        raise ValueError(
            f"{function}: expected {' or '.join(np.dtype(one).name for one in dtypes)} of shape [height, width, channels] "
            f"with {', '.join(map(str, channels))} channels, got {pixels.dtype} of shape {pixels.shape}. Convert it: "
            "tf.image.convert_image_dtype(image, tf.uint8)."
        )
    return pixels


def _bytes(function: str, contents: TensorLike) -> bytes:
    """Returns the bytes of a file."""
    if isinstance(contents, np.ndarray) and contents.dtype.kind in "OS" and contents.size == 1:
        contents = contents.item()
    if isinstance(contents, bytes):
        return contents
    if isinstance(contents, str):
        raise ValueError(
            f"{function}: expected the bytes of a file, got a text of {len(contents)} characters. Read the file: "
            "tf.io.read_file(path)."
        )
    where = (
        " Devices hold no text: decode in a map function of the dataset."
        if isinstance(contents, Tracer)
        else ""
    )
    raise ValueError(
        f"{function}: expected the bytes of one file, got {contents!r:.80} ({type(contents).__name__}).{where}"
    )


def _still(
    function: str, data: bytes, channels: int, dtype: np.dtype[Any], kinds: tuple[str, ...]
) -> np.ndarray[Any, Any]:
    """Decodes one picture, of an animation the first frame."""
    kind = kind_of(function, data, kinds)
    if channels not in (0, 1, 3, 4):
        raise ValueError(f"{function}: channels must be 0, 1, 3 or 4, got {channels}.")
    if dtype not in (_BYTE, _WIDE):
        raise ValueError(f"{function}: dtype must be uint8 or uint16, got {dtype.name}.")
    if kind == "JPEG":
        pixels = read_jpeg(function, data, DEFAULT._replace(channels=channels))
    elif kind in ("GIF", "WEBP"):
        pixels = _first_frame(function, data, channels, kinds)
    elif kind == "BMP":
        pixels = read_bmp(function, data)
        if channels == 1:
            raise ValueError(f"{function}: channels of a BMP must be 0, 3 or 4, got 1.")
    elif png.is_wide(data):
        pixels = png.read_wide(data)
    else:
        pixels = pixels_of(function, kind, opened(function, data, kind))
    pixels = with_channels(pixels, channels)
    if pixels.dtype == dtype:
        return pixels
    if dtype == _BYTE:
        return (pixels >> 8).astype(np.uint8)
    return pixels * np.uint16(257 if kind == "PNG" else 256)


def _first_frame(
    function: str, data: bytes, channels: int, kinds: tuple[str, ...]
) -> np.ndarray[Any, Any]:
    kind = kind_of(function, data, kinds)
    picture = opened(function, data, kind)
    if channels not in (0, 3):
        raise ValueError(f"{function}: channels of a {kind} must be 0 or 3, got {channels}.")
    if picture.n_frames > 1 and kinds is not _ALL:
        raise ValueError(
            f"{function}: this GIF has several frames. Use tf.io.decode_gif, or tf.io.decode_image."
        )
    return frames_of(function, kind, picture, 1)[0]
