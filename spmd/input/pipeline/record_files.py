"""TFRecord files: sequences of records of any length, with checksums.

A record is its length (64 bits, little-endian), the masked CRC32C of that, the content, and the content's masked
CRC32C. Both checksums are checked; those of contents for all records of a block at once.
"""

import struct
from collections.abc import Iterator
from typing import IO

import numpy as np

from spmd.errors import DamagedFileError
from spmd.input.pipeline.crc32c import all_intact, masked_crc32c, masked_crc32c_of_length

_HEADER = struct.Struct("<QI")
_LENGTH = struct.Struct("<Q")
_CRC = struct.Struct("<I")
_BLOCK = 2**18
# A length that is wrong may be any number: memory is taken for what is there.
_MOST = 2**24


def framed(content: bytes | memoryview) -> list[bytes | memoryview]:
    """Returns the parts of a record, to be written one after the other.

    Examples:
        >>> b"".join(framed(b"abc")).hex()
        '0300000000000000b099490e6162636e57f121'
    """
    length = _LENGTH.pack(len(content))
    return [
        length,
        _CRC.pack(masked_crc32c_of_length(length)),
        content,
        _CRC.pack(masked_crc32c(content)),
    ]


def records(file: IO[bytes], block_size: int | None = None) -> Iterator[bytes]:
    """Yields the records of a file.

    Args:
        file: is read from where it is.
        block_size: how many bytes to read at once.

    Raises:
        DamagedFileError: the file is truncated, a checksum is wrong, or it is of another format; raised where the
            record before was yielded.
    """
    size = max(block_size or 0, _BLOCK)
    number = offset = 0
    rest = b""
    while block := rest + file.read(size):
        places, damage = _walk(block)
        end = places[-1][1] + _CRC.size if places else 0
        if places and not _are_intact(block[:end], places):
            wrong = next(
                index for index, place in enumerate(places) if not _is_intact(block, place)
            )
            damage, places = "the checksum of its content is wrong", places[:wrong]
        for begin, stop in places:
            yield block[begin:stop]
        number += len(places)
        if damage:
            at = offset + (places[-1][1] + _CRC.size if places else 0)
            raise _error(file, number, at, damage)
        offset, rest = offset + end, block[end:]
        missing = _missing(rest)
        if not missing:
            continue
        more = _read(file, missing)
        rest += more
        if len(more) < missing:
            raise _error(file, number, offset, "the file ends before its end")


def _walk(block: bytes) -> tuple[list[tuple[int, int]], str]:
    """Finds where the contents of whole records are in a block, and what is wrong with the next one."""
    places: list[tuple[int, int]] = []
    lengths: dict[bytes, bool] = {}
    position, last = 0, len(block) - _HEADER.size
    while position <= last:
        header = block[position : position + _HEADER.size]
        known = lengths.get(header)
        if known is None:
            length = header[: _LENGTH.size]
            known = lengths[header] = masked_crc32c_of_length(length) == _CRC.unpack(header[8:])[0]
        if not known:
            return places, "the checksum of its length is wrong"
        begin = position + _HEADER.size
        stop = begin + int.from_bytes(header[: _LENGTH.size], "little")
        position = stop + _CRC.size
        if position > len(block):
            break
        places.append((begin, stop))
    return places, ""


def _missing(rest: bytes) -> int:
    """Returns how many bytes a record lacks of which the first ones are here; 0 if there is none."""
    if not rest:
        return 0
    if len(rest) < _HEADER.size:
        return _HEADER.size - len(rest)
    length, _ = _HEADER.unpack_from(rest)
    return _HEADER.size + length + _CRC.size - len(rest)


def _read(file: IO[bytes], count: int) -> bytes:
    parts: list[bytes] = []
    while count and (part := file.read(min(count, _MOST))):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _are_intact(block: bytes, places: list[tuple[int, int]]) -> bool:
    contents = np.array(places, np.int64)
    headers = contents[:, :1] - [_HEADER.size, _CRC.size]
    starts, ends = np.concatenate([headers, contents]).T
    return all_intact(np.frombuffer(block, np.uint8).copy(), starts, ends)


def _is_intact(block: bytes, place: tuple[int, int]) -> bool:
    begin, stop = place
    return _CRC.unpack_from(block, stop)[0] == masked_crc32c(block[begin:stop])


def _error(file: IO[bytes], number: int, offset: int, damage: str) -> DamagedFileError:
    name = str(getattr(file, "name", "the file"))
    return DamagedFileError(
        f"{name} is not a TFRecord file, or is damaged after {number} records: of the record that begins at byte "
        f"{offset}, {damage}.\nFix: compression_type='GZIP' (or 'ZLIB') if it is compressed; else write it again.",
        name,
        offset,
    )
