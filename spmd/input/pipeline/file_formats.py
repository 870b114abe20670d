"""Formats of files: lines of text, and TFRecords.

A TFRecord file is a sequence of records: the length (64 bits, little-endian), its masked CRC32C, the
content, and the content's masked CRC32C.
"""

import contextlib
import gzip
import io
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import IO, TypeAlias

import numpy as np

from spmd.typing import ArrayLike

# Yields the records of an open file.
Reader: TypeAlias = Callable[[IO[bytes]], Iterator[bytes]]
# One path, or several, nested or not.
Paths: TypeAlias = ArrayLike

_COMPRESSIONS = (None, "", "GZIP", "ZLIB")
_LENGTH = struct.Struct("<Q")
_CRC = struct.Struct("<I")


def check_compression(compression: str | None, op_name: str) -> None:
    """Checks the name of a compression.

    Raises:
        ValueError: There is no such compression.
    """
    if compression not in _COMPRESSIONS:
        raise ValueError(
            f"{op_name}: compression_type must be None, 'GZIP' or 'ZLIB', got {compression!r}."
        )


def paths(filenames: Paths) -> Iterator[str]:
    """Yields the paths in one path or a list of them, nested or not."""
    if isinstance(filenames, str | bytes | os.PathLike):
        yield os.fsdecode(filenames)
    else:
        for each in np.asarray(filenames, object).ravel():
            yield os.fsdecode(each)


def opened(path: Paths, compression: str | None) -> contextlib.AbstractContextManager[IO[bytes]]:
    """Opens a file and decompresses it."""
    name = os.fsdecode(path.item() if isinstance(path, np.ndarray | np.generic) else path)
    if compression == "GZIP":
        return contextlib.closing(io.BufferedReader(gzip.GzipFile(name)))
    if compression == "ZLIB":
        with open(name, "rb") as packed:
            return io.BytesIO(zlib.decompress(packed.read()))
    return open(name, "rb")


def lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yields the lines of a text file, without their ends."""
    for line in file:
        yield line.removesuffix(b"\n").removesuffix(b"\r")


def records(file: IO[bytes]) -> Iterator[bytes]:
    """Yields the records of a TFRecord file.

    Raises:
        ValueError: The file is truncated, or of another format.
    """
    number = 0
    while header := file.read(_LENGTH.size + _CRC.size):
        length = header[: _LENGTH.size]
        content = b""
        if header[_LENGTH.size :] == _CRC.pack(_masked_crc32c(length)):
            (size,) = _LENGTH.unpack(length)
            content = file.read(size + _CRC.size)
            if len(content) == size + _CRC.size:
                number += 1
                yield content[:size]
                continue
        raise ValueError(
            f"TFRecordDataset: {getattr(file, 'name', 'the file')} is not a TFRecord file, or is damaged "
            f"after {number} records.\nFix: compression_type='GZIP' if it is compressed, or write it "
            "again."
        )


def _crc_table() -> list[int]:
    table: list[int] = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def _masked_crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
