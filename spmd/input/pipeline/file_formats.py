"""Files: their paths, compression, and the formats of lines and of records of equal length."""

import io
import os
import zlib
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np

from spmd.errors import DamagedFileError
from spmd.files import reads
from spmd.typing import ArrayLike

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# Yields the records of an open file.
Reader: TypeAlias = Callable[[IO[bytes]], Iterator[bytes]]
# One path, or several, nested or not.
Paths: TypeAlias = ArrayLike

_COMPRESSIONS = (None, "", "GZIP", "ZLIB")
# What zlib calls the formats.
_WINDOW_BITS = {"GZIP": 31, "ZLIB": 15}
_BLOCK = 2**18


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


def opened(path: Paths, compression: str | None) -> IO[bytes]:
    """Opens a file, on this machine or in an object store, and decompresses it."""
    name = os.fsdecode(path.item() if isinstance(path, np.ndarray | np.generic) else path)
    file = reads(name)
    if not compression:
        return file
    return io.BufferedReader(_Decompressed(file, name, compression), _BLOCK)  # type: ignore[return-value]


class _Decompressed(io.RawIOBase):
    """The content of a compressed file."""

    def __init__(self, file: IO[bytes], name: str, compression: str) -> None:
        self.name = name
        self._file = file
        self._compression = compression
        self._member = self._next_member()
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer).cast("B")
        found = b""
        while not found:
            if self._member.eof:
                self._rest = self._member.unused_data or self._file.read(_BLOCK)
                if not self._rest:
                    return 0
                self._member = self._next_member()
            packed = self._rest or self._file.read(_BLOCK)
            if not packed:
                if self._file.tell() == 0:
                    return 0
                raise self._error("it ends too early")
            try:
                found = self._member.decompress(packed, len(view))
            except zlib.error as error:
                raise self._error(str(error)) from None
            self._rest = self._member.unconsumed_tail
        view[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self._file.close()
        super().close()

    def _next_member(self) -> Any:
        return zlib.decompressobj(_WINDOW_BITS[self._compression])

    def _error(self, reason: str) -> DamagedFileError:
        offset = self._file.tell()
        return DamagedFileError(
            f"{self.name} is not compressed with {self._compression}, or is damaged before byte {offset}: {reason}.\n"
            "Fix: compression_type=None if it is not compressed; else write it again.",
            self.name,
            offset,
        )


def lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yields the lines of a text file, without their ends and without carriage returns."""
    for line in file:
        yield line.removesuffix(b"\n").replace(b"\r", b"")


def fixed_length_records(
    file: IO[bytes], size: int, header: int = 0, footer: int = 0
) -> Iterator[bytes]:
    """Yields the records of a file in which all have the same length.

    Args:
        file: is read from where it is.
        size: bytes of a record.
        header: bytes before the first one.
        footer: bytes after the last one.

    Raises:
        DamagedFileError: what is between header and footer is no whole number of records.
    """
    name = str(getattr(file, "name", "the file"))
    rest = b""
    if len(file.read(header)) < header:
        raise DamagedFileError(f"{name} is shorter than its header of {header} bytes.", name, 0)
    offset = header
    count = max(1, _BLOCK // size)
    while block := file.read(count * size):
        rest += block
        end = (len(rest) - footer) // size * size
        for begin in range(0, end, size):
            yield rest[begin : begin + size]
        if end > 0:
            offset, rest = offset + end, rest[end:]
    if len(rest) != footer:
        raise DamagedFileError(
            f"{name}: expected records of {size} bytes between a header of {header} bytes and a footer of {footer}, "
            f"found {len(rest)} bytes after byte {offset}.\nFix: record_bytes, or write the file again.",
            name,
            offset,
        )
