"""Where the values of an example are in its bytes.

`tf.train.Example` is a map from keys to lists of texts, floats or integers. Its bytes nearly always have the one form that
programs write: `scan` finds the lists in it, without making objects. What has another form, which protocol buffers allow,
protobuf reads and writes in that form first.
"""

from typing import Any, TypeAlias

import numpy as np

# The tag of a list in its feature. A feature without a list has no values.
NOTHING, TEXTS, FLOATS, INTEGERS = 0, 0x0A, 0x12, 0x1A
KINDS = {NOTHING: "none", TEXTS: "string", FLOATS: "float", INTEGERS: "int64"}

# A list: its tag, and where it begins and ends.
Span: TypeAlias = tuple[int, int, int]

# The calls of NumPy take longer than a loop over so many bytes.
_SHORT = 256
_ALL = 2**64 - 1

_FIRST, _SECOND = 0x0A, 0x12  # field 1 or 2 of a message, with a length


class MalformedExample(ValueError):
    """Bytes that are no example."""


def scan(data: bytes) -> tuple[bytes, dict[bytes, Span]]:
    """Finds the lists of an example.

    Args:
        data: a serialized `tf.train.Example`.

    Returns:
        The bytes that the spans are for, and the span of each key.

    Raises:
        MalformedExample: the bytes are no example.
    """
    found = _scan(data)
    if found is None:
        data = _rewritten(data)
        found = _scan(data)
        if found is None:
            raise MalformedExample(_message(data))
    return data, found


def floats(data: bytes, start: int, stop: int) -> np.ndarray:
    """Returns the values of a list of floats."""
    begin = _packed(data, start, stop)
    if begin < 0 or (stop - begin) % 4:
        return np.array(_read_by_protobuf(data, start, stop, "FloatList"), np.float32)
    # A copy, which is aligned and may be written to.
    return np.frombuffer(data, "<f4", (stop - begin) // 4, begin).astype(np.float32)


def integers(data: bytes, start: int, stop: int) -> np.ndarray:
    """Returns the values of a list of integers."""
    begin = _packed(data, start, stop)
    if begin < 0:
        return np.array(_read_by_protobuf(data, start, stop, "Int64List"), np.int64)
    content = data[begin:stop]
    if content.isascii():  # numbers below 128
        return np.frombuffer(content, np.uint8).astype(np.int64)
    if len(content) <= _SHORT:
        return _few_integers(data, content)
    digits = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(digits < 0x80)
    begins = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends + 1 - begins
    if not len(ends) or ends[-1] + 1 != len(digits) or lengths.max() > 10:
        raise MalformedExample(_message(data))
    places = np.arange(len(digits)) - np.repeat(begins, lengths)
    parts = (digits & 0x7F).astype(np.uint64) << (7 * places).astype(np.uint64)
    return np.bitwise_or.reduceat(parts, begins).view(np.int64)


def _few_integers(data: bytes, content: bytes) -> np.ndarray:
    found: list[int] = []
    value = shift = 0
    for byte in content:
        if byte < 0x80:
            found.append((value | byte << shift) & _ALL)
            value = shift = 0
        elif shift < 63:
            value |= (byte & 0x7F) << shift
            shift += 7
        else:
            raise MalformedExample(_message(data))
    if shift:
        raise MalformedExample(_message(data))
    return np.array(found, np.uint64).view(np.int64)


def texts(data: bytes, start: int, stop: int) -> list[bytes]:
    """Returns the values of a list of texts."""
    found: list[bytes] = []
    at = start
    try:
        while at < stop and data[at] == _FIRST:
            length = data[at + 1]
            at += 2
            if length > 127:
                length, at = _varint(data, length, at)
            found.append(data[at : at + length])
            at += length
    except IndexError:
        at = -1
    return found if at == stop else _read_by_protobuf(data, start, stop, "BytesList")


def _scan(data: bytes) -> dict[bytes, Span] | None:
    """Finds the lists of an example in the form that programs write; None if it has another one."""
    found: dict[bytes, Span] = {}
    size = len(data)
    if not size:
        return found
    try:
        if data[0] != _FIRST:
            return None
        length, at = data[1], 2
        if length > 127:
            length, at = _varint(data, length, at)
        if at + length != size:
            return None
        while at < size:
            if data[at] != _FIRST:
                return None
            length = data[at + 1]
            at += 2
            if length > 127:
                length, at = _varint(data, length, at)
            end = at + length
            if data[at] != _FIRST or end > size:
                return None
            length = data[at + 1]
            at += 2
            if length > 127:
                length, at = _varint(data, length, at)
            key = data[at : at + length]
            at += length
            if key in found or data[at] != _SECOND:
                return None
            length = data[at + 1]
            at += 2
            if length > 127:
                length, at = _varint(data, length, at)
            if at + length != end:
                return None
            if not length:
                found[key] = (NOTHING, at, at)
                continue
            tag, length = data[at], data[at + 1]
            at += 2
            if length > 127:
                length, at = _varint(data, length, at)
            if at + length != end or tag not in KINDS:
                return None
            found[key] = (tag, at, end)
            at = end
    except IndexError:
        return None
    return found if at == size else None


def _varint(data: bytes, first: int, at: int) -> tuple[int, int]:
    """Reads the rest of a length; returns it and where it ends."""
    value = first & 0x7F
    for shift in range(7, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise IndexError("a length of more than ten bytes")


def _packed(data: bytes, start: int, stop: int) -> int:
    """Returns where the numbers of a list begin, or -1 if they are not all together."""
    if start == stop:
        return start
    try:
        length, begin = data[start + 1], start + 2
        if length > 127:
            length, begin = _varint(data, length, begin)
    except IndexError:
        return -1
    return begin if data[start] == _FIRST and begin + length == stop else -1


def _read_by_protobuf(data: bytes, start: int, stop: int, name: str) -> list[Any]:
    from google.protobuf.message import DecodeError

    from frontends.tf._protos import MESSAGES

    try:
        return list(MESSAGES[name].FromString(data[start:stop]).value)
    except DecodeError:
        raise MalformedExample(_message(data)) from None


def _rewritten(data: bytes) -> bytes:
    """Has protobuf write an example in the form that `_scan` reads."""
    from google.protobuf.message import DecodeError

    from frontends.tf.train.example import Example

    try:
        example = Example.FromString(data)
    except DecodeError:
        raise MalformedExample(_message(data)) from None
    example.DiscardUnknownFields()
    return example.SerializeToString(deterministic=True)


def _message(data: bytes) -> str:
    return (
        f"Could not parse example input, value: {data[:60]!r}{'...' if len(data) > 60 else ''} "
        f"({len(data)} bytes) is not a serialized tf.train.Example.\n"
        "Fix: write example.SerializeToString(), and read it with tf.data.TFRecordDataset(path, compression_type)."
    )
