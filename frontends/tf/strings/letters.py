"""Letters of texts: their case, number and parts."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from frontends.tf._typing import HostLike, TensorLike
from frontends.tf.data.host_arrays import (
    integers,
    shown,
    text_array,
)
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.strings.mapping import in_parts, on_each

# `len` is a parameter of `substr`.
_size = len
_UNITS = ("BYTE", "UTF8_CHAR")


def lower(input: HostLike, encoding: str = "", name: str | None = None) -> Any:
    """Makes capital letters small.

    Args:
        input: texts.
        encoding: `"utf-8"` for all letters, `""` for those of ASCII.

    Raises:
        ValueError: it is another encoding.

    Source: `tf.strings.lower`.
    """
    return on_each(_in_case("lower", encoding), input, "tf.strings.lower: input")


def upper(input: HostLike, encoding: str = "", name: str | None = None) -> Any:
    """Makes small letters capital; see `lower`.

    Raises:
        ValueError: it is another encoding.

    Source: `tf.strings.upper`.
    """
    return on_each(_in_case("upper", encoding), input, "tf.strings.upper: input")


def strip(input: HostLike, name: str | None = None) -> Any:
    """Takes spaces off both ends.

    Source: `tf.strings.strip`.
    """
    return on_each(bytes.strip, input, "tf.strings.strip: input")


def length(input: HostLike, unit: str = "BYTE", name: str | None = None) -> Any:
    """Counts bytes, or characters of UTF-8.

    Args:
        input: texts.
        unit: `"BYTE"` or `"UTF8_CHAR"`.

    Returns:
        int32, of the texts' shape.

    Raises:
        ValueError: it is another unit.

    Source: `tf.strings.length`.
    """
    count = len if _unit(unit) == "BYTE" else _begun_characters
    return on_each(count, input, "tf.strings.length: input", np.int32)


def substr(
    input: HostLike, pos: TensorLike, len: TensorLike, unit: str = "BYTE", name: str | None = None
) -> Any:
    """Takes parts of texts.

    Args:
        input: texts.
        pos: where the part begins; negative ones count from the end. One number, or one for each text.
        len: of the part; it ends with the text, at the latest.
        unit: `"BYTE"` or `"UTF8_CHAR"`.

    Raises:
        ValueError: a position is outside of its text, or the shapes do not fit.

    Source: `tf.strings.substr`.
    """
    by_byte = _unit(unit) == "BYTE"
    start, count = (
        integers(one, f"tf.strings.substr: {what}") for one, what in ((pos, "pos"), (len, "len"))
    )
    if start.shape != count.shape:
        raise ValueError(
            f"tf.strings.substr: pos and len should have the same shape, got: {list(start.shape)} vs. {list(count.shape)}"
        )
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(substr(input.flat_values, pos, len, unit))
    texts = text_array(input, "tf.strings.substr: input")
    shape = np.broadcast_shapes(texts.shape, start.shape)
    found = np.empty(shape, object)
    flat = found.reshape(-1)
    columns = (np.broadcast_to(one, shape).reshape(-1).tolist() for one in (texts, start, count))
    for number, (text, begin, size) in enumerate(zip(*columns, strict=True)):
        units = text if by_byte else _characters(text)
        if not -_size(units) <= begin <= _size(units):
            raise ValueError(
                f"pos {begin} out of range for string {text!r} at index {number}.\n"
                "Fix: tf.strings.length tells how long a text is."
            )
        begin += _size(units) if begin < 0 else 0
        part = units[begin:] if size < 0 else units[begin : begin + size]
        flat[number] = part if by_byte else b"".join(part)
    return shown(found)


def bytes_split(input: HostLike, name: str | None = None) -> Any:
    """Splits texts into single bytes.

    Returns:
        A vector of those of a single text; else a `tf.RaggedTensor`.

    Source: `tf.strings.bytes_split`.
    """
    return in_parts(
        lambda text: [text[at : at + 1] for at in range(len(text))],
        input,
        "tf.strings.bytes_split: input",
    )


def _in_case(case: str, encoding: str) -> Callable[[bytes], bytes]:
    if encoding not in ("", "utf-8"):
        raise ValueError(
            f"only utf8 or '' (no encoding) is supported for encoding, got {encoding}."
        )
    if not encoding:
        return getattr(bytes, case)
    return lambda text: getattr(text.decode("utf-8", "replace"), case)().encode()


def _unit(unit: str) -> str:
    if unit not in _UNITS:
        raise ValueError(f"unit must be one of {', '.join(_UNITS)}, got {unit!r}.")
    return unit


def _characters(text: bytes) -> list[bytes]:
    """Takes a text apart into characters: a byte that begins one, and those that go on with it.

    Bytes at the beginning that go on with no character are one as well.
    """
    return re.findall(rb"[^\x80-\xBF][\x80-\xBF]*|[\x80-\xBF]+", text)


def _begun_characters(text: bytes) -> int:
    """Counts the characters that begin in a text."""
    return len(re.findall(rb"[^\x80-\xBF]", text))
