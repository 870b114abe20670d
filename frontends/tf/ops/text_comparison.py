"""Comparisons of texts, which are on the host: bytes, and arrays of them, in functions that datasets map."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np


def of_texts_too(function: Callable[..., Any], compare: Callable[[Any, Any], Any]) -> Any:
    """Has a comparison take texts.

    Args:
        function: compares numbers; takes `x`, `y` and `name`.
        compare: compares arrays of bytes.

    Examples:
        >>> of_texts_too(np.equal, np.equal)(b"yes", np.array(["yes", "no"]))
        array([ True, False])
    """

    @functools.wraps(function)
    def call(x: Any, y: Any, name: str | None = None) -> Any:
        if _is_text(x) and _is_text(y):
            return compare(_as_bytes(x), _as_bytes(y))
        return function(x, y, name)

    return call


def _is_text(value: Any) -> bool:
    if isinstance(value, (str, bytes)):
        return True
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(_is_text, value))
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "OSU"


def _as_bytes(value: Any) -> Any:
    """Makes an array of bytes, as objects: NumPy's own fixed size leaves zeros at the end out."""
    made = np.array(value, object)
    for index, text in np.ndenumerate(made):
        made[index] = text.encode() if isinstance(text, str) else bytes(text)
    return made
