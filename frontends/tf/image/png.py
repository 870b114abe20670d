"""PNG with 16 bits a channel, which Pillow reads as 8 bits unless it is gray."""

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# By the number that stands for a kind of colour: how many channels it has.
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def is_wide(data: bytes) -> bool:
    """Tells whether a PNG has 16 bits a channel, and rows in order."""
    return data.startswith(SIGNATURE) and len(data) > 28 and data[24] == 16 and data[28] == 0


def read_wide(data: bytes) -> np.ndarray[Any, Any]:
    """Decodes a PNG for which `is_wide`.

    Args:
        data: the file.

    Returns:
        uint16, of shape `[height, width, channels]`.

    Raises:
        ValueError: the file is damaged.
    """
    try:
        width, height = struct.unpack(">II", data[16:24])
        pixel = _CHANNELS[data[25]] * 2
        raw = zlib.decompress(b"".join(body for kind, body in _chunks(data) if kind == b"IDAT"))
        lines = np.frombuffer(raw, np.uint8).reshape(height, 1 + width * pixel)
    except (KeyError, ValueError, zlib.error, struct.error) as error:
        raise ValueError(f"This PNG is damaged: {error}.") from None
    rows = np.zeros((height + 1, width, pixel), np.uint8)
    for number, line in enumerate(lines):
        rows[number + 1] = _unfiltered(int(line[0]), line[1:].reshape(width, pixel), rows[number])
    return rows[1:].reshape(height, -1).view(">u2").astype(np.uint16).reshape(height, width, -1)


def write_wide(pixels: np.ndarray[Any, Any], level: int) -> bytes:
    """Encodes a PNG of 16 bits a channel.

    Args:
        pixels: uint16, of shape `[height, width, channels]`.
        level: how hard to compress, from 0 to 9; -1 leaves it open.
    """
    height, width, channels = pixels.shape
    kind = {count: number for number, count in _CHANNELS.items()}[channels]
    lines = pixels.astype(">u2").reshape(height, -1).view(np.uint8)
    body = zlib.compress(np.pad(lines, ((0, 0), (1, 0))).tobytes(), level)
    header = struct.pack(">IIBBBBB", width, height, 16, kind, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", body), (b"IEND", b"")
    return SIGNATURE + b"".join(
        struct.pack(">I", len(one)) + name + one + struct.pack(">I", zlib.crc32(name + one))
        for name, one in chunks
    )


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    start = len(SIGNATURE)
    while start + 8 <= len(data):
        (length,) = struct.unpack(">I", data[start : start + 4])
        yield data[start + 4 : start + 8], data[start + 8 : start + 8 + length]
        start += length + 12


def _unfiltered(kind: int, line: Any, above: Any) -> Any:
    """Undoes the filter of one row, which holds differences to its neighbours."""
    if kind == 0:
        return line
    if kind == 1:
        return np.add.accumulate(line, 0, np.uint8)
    if kind == 2:
        return line + above
    if kind not in (3, 4):
        raise ValueError(f"This PNG is damaged: it has a filter {kind}, of which there is none.")
    found = np.zeros((len(line) + 1, line.shape[1]), np.int64)
    up, given = above.astype(np.int64), line.astype(np.int64)
    corner = np.zeros(line.shape[1], np.int64)
    for number in range(len(line)):
        left = found[number]
        guess = (left + up[number]) // 2 if kind == 3 else _paeth(left, up[number], corner)
        found[number + 1] = (given[number] + guess) % 256
        corner = up[number]
    return found[1:].astype(np.uint8)


def _paeth(left: Any, up: Any, corner: Any) -> Any:
    estimate = left + up - corner
    to_left, to_up, to_corner = (np.abs(estimate - each) for each in (left, up, corner))
    nearest_up = np.where(to_up <= to_corner, up, corner)
    return np.where((to_left <= to_up) & (to_left <= to_corner), left, nearest_up)
