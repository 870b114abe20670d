"""Reading BMP files, as TensorFlow does: without compression, and with transparency where a pixel has 32 bits."""

import struct
from typing import Any

import numpy as np


def read_bmp(function: str, data: bytes) -> np.ndarray[Any, Any]:
    """Decodes a BMP of 8, 24 or 32 bits a pixel.

    Args:
        function: TensorFlow's name of it, for the error.
        data: the file.

    Returns:
        uint8, of shape `[height, width, channels]`, with 1, 3 or 4 channels.

    Raises:
        ValueError: the file is damaged, or of another sort.
    """
    try:
        start, _, width, height, _, bits, packing = struct.unpack("<IIiiHHI", data[10:34])
    except struct.error:
        raise ValueError(f"{function}: this BMP ends in its header.") from None
    if bits not in (8, 24, 32) or packing not in (0, 3) or width <= 0 or not height:
        raise ValueError(
            f"{function}: expected a BMP without compression, of 8, 24 or 32 bits a pixel; got {bits} bits, compression "
            f"{packing} and {height} x {width} pixels."
        )
    channels, rows = bits // 8, abs(height)
    stride = (width * channels + 3) // 4 * 4
    if len(data) < start + rows * stride:
        raise ValueError(
            f"{function}: this BMP has {len(data)} bytes, and {start + rows * stride} are needed for {rows} x {width} pixels."
        )
    lines = np.frombuffer(data, np.uint8, rows * stride, start).reshape(rows, stride)
    pixels = lines[:, : width * channels].reshape(rows, width, channels)
    # Files begin with the last row, unless they say otherwise, and colours with blue.
    pixels = pixels[::-1] if height > 0 else pixels
    return pixels[..., [2, 1, 0, 3][:channels]] if channels > 1 else pixels
