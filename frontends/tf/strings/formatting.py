"""`tf.strings.format`: values in a template."""

from typing import Any

import numpy as np

from frontends.tf._typing import HostLike
from frontends.tf.data.host_arrays import (
    check_on_host,
    host_array,
    shown,
)


def format(
    template: str,
    inputs: HostLike,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Any:
    """Writes arrays into a template.

    Args:
        template: the text, with placeholders.
        inputs: an array, or a list of them, one for each placeholder.
        placeholder: what stands for an array.
        summarize: how many entries at the beginning and the end of each dimension to write; -1 means all.

    Raises:
        ValueError: there are more or fewer arrays than placeholders.

    Source: `tf.strings.format`.
    """
    check_on_host(inputs, "tf.strings.format: inputs")
    values = inputs if isinstance(inputs, list | tuple) else [inputs]
    pieces = template.split(placeholder)
    if len(pieces) != len(values) + 1:
        raise ValueError(
            f"{len(pieces) - 1} placeholder(s) in template does not match {len(values)} tensor(s) provided as input"
        )
    made = pieces[0]
    for value, piece in zip(values, pieces[1:], strict=True):
        made += _summary(host_array(value, "tf.strings.format: inputs"), summarize) + piece
    return shown(np.array(made.encode("utf-8", "surrogateescape"), object))


def _summary(array: np.ndarray, summarize: int, depth: int = 1) -> str:
    if array.ndim == 0:
        return _entry(array[()])
    items = list(array) if array.dtype.kind != "O" or array.ndim > 1 else array.tolist()
    if array.ndim == 1:
        return "[" + " ".join(_shortened([_entry(one) for one in items], summarize)) + "]"
    rows = [_summary(row, summarize, depth + 1) for row in items]
    return "[" + ("\n" * (array.ndim - 1) + " " * depth).join(_shortened(rows, summarize)) + "]"


def _shortened(texts: list[str], summarize: int) -> list[str]:
    if summarize < 0 or len(texts) <= 2 * summarize:
        return texts
    return [*texts[:summarize], "...", *texts[-summarize:]]


def _entry(value: HostLike) -> str:
    if isinstance(value, bytes):
        return f'"{value.decode("utf-8", "surrogateescape")}"'
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return str(int(value))
    if np.iscomplexobj(value):
        return f"({_entry(value.real)},{_entry(value.imag)})"
    short = f"{float(value):.6g}"
    return short if np.float32(short) == np.float32(value) else f"{float(value):.9g}"
