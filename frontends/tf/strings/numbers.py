"""Numbers from texts, and texts from numbers."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from frontends.tf._typing import DTypeLike, HostLike
from frontends.tf.data.host_arrays import (
    each,
    host_array,
    shown,
)
from frontends.tf.dtypes import as_dtype
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.strings.mapping import on_each


def to_number(input: HostLike, out_type: DTypeLike = "float32", name: str | None = None) -> Any:
    """Parses texts as numbers.

    Args:
        input: texts.
        out_type: float32, float64, or integers of 32 or 64 bits.

    Raises:
        ValueError: a text is no number, or one that does not fit; or it is another dtype.

    Source: `tf.strings.to_number`.
    """
    kind = as_dtype(out_type)
    if kind.name not in ("float32", "float64", "int32", "int64", "uint32", "uint64"):
        raise ValueError(
            f"tf.strings.to_number: out_type must be float32, float64, int32 or int64, got {kind.name}."
        )
    read = _real if kind.is_floating else _whole(kind.dtype)

    def number(text: bytes) -> Any:
        found = read(text.strip())
        if found is None:
            raise ValueError(
                "tf.strings.to_number: StringToNumberOp could not correctly convert string: "
                f"{text.decode('utf-8', 'replace')!r} is no {kind.name}. Leave such texts out before, with "
                "tf.strings.regex_full_match."
            )
        return found

    with np.errstate(over="ignore"):
        return on_each(number, input, "tf.strings.to_number: input", kind.dtype)


_REAL = re.compile(rb"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan)", re.I)
_HEXADECIMAL = re.compile(rb"[+-]?0[xX][0-9a-fA-F]+")
_WHOLE = re.compile(rb"[+-]?\d+")


def _real(text: bytes) -> float | None:
    if _HEXADECIMAL.fullmatch(text):
        return float.fromhex(text.decode())
    return float(text) if _REAL.fullmatch(text) else None


def _whole(dtype: np.dtype) -> Callable[[bytes], int | None]:
    limits: Any = np.iinfo(dtype)

    def read(text: bytes) -> int | None:
        if not _WHOLE.fullmatch(text):
            return None
        return found if limits.min <= (found := int(text)) <= limits.max else None

    return read


def as_string(
    input: HostLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Any:
    """Writes numbers as texts.

    Args:
        input: numbers, booleans or texts.
        precision: digits behind the point; -1 means 6.
        scientific: whether to write an exponent.
        shortest: whether to write as few digits as are needed, of 6.
        width: to which texts are filled.
        fill: with what: `"0"`, `" "`, or `"-"` for spaces at the end.

    Raises:
        ValueError: options do not fit each other, or the type.

    Examples:
        >>> from frontends import tf
        >>> tf.strings.as_string([1.5, 2.25], precision=2).tolist()
        [b'1.50', b'2.25']

    Source: `tf.strings.as_string`.
    """
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(
            as_string(input.flat_values, precision, scientific, shortest, width, fill)
        )
    array = host_array(input, "tf.strings.as_string: input")
    kind = array.dtype.kind
    is_real = kind in "fcV" or array.dtype.name == "bfloat16"
    if scientific and shortest:
        raise ValueError("Cannot select both scientific and shortest notation")
    if kind in "iub" and (scientific or shortest or precision >= 0):
        what = "scientific and shortest format" if scientific or shortest else "precision"
        raise ValueError(
            f"tf.strings.as_string: {what} not supported for datatype {as_dtype(array.dtype).name}"
        )
    if len(fill) > 1 or (fill and fill not in "0 +-"):
        raise ValueError(f"Fill argument not supported: {fill!r}")
    ending = "s" if kind == "O" else "d"
    if is_real:
        ending = (f".{precision}" if precision > -1 else "") + (
            "e" if scientific else "g" if shortest else "f"
        )
    size = str(width) if width > -1 else ""
    flags = f"%{fill if kind != 'O' or fill != '0' else ''}{size}{ending}"
    unfilled = f"%{fill if fill != '0' else ''}{size}{ending}"

    def written(value: HostLike) -> bytes:
        if kind == "O":
            return (flags % value.decode("utf-8", "surrogateescape")).encode(
                "utf-8", "surrogateescape"
            )
        if kind == "b":
            return b"true" if value else b"false"
        if kind == "c":
            return f"({flags % value.real},{flags % value.imag})".encode()
        # C fills no infinity with zeros.
        return ((unfilled if is_real and not np.isfinite(value) else flags) % value).encode()

    if is_real and kind != "c":
        array = array.astype(np.float64)
    return shown(each(written, array))
