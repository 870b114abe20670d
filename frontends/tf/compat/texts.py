"""`tf.compat`'s functions for texts, which Python 2 had in two types, and the types of numbers."""

import numbers
import os
from typing import Any

import numpy as np

# For `isinstance`, of Python's numbers and NumPy's.
bytes_or_text_types = (bytes, str)
complex_types = (numbers.Complex, np.number)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)


def as_bytes(bytes_or_text: bytes | bytearray | str, encoding: str = "utf-8") -> bytes:
    """Returns a text as bytes.

    Raises:
        TypeError: it is neither text nor bytes.

    Source: `tf.compat.as_bytes`.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}. Write str(x).")


def as_text(bytes_or_text: bytes | str, encoding: str = "utf-8") -> str:
    """Returns bytes as a text.

    Raises:
        TypeError: it is neither text nor bytes.

    Source: `tf.compat.as_text`.
    """
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}. Write str(x).")


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Returns bytes, or anything that has a text, as a text.

    Examples:
        >>> as_str_any(b"a"), as_str_any(3)
        ('a', '3')

    Source: `tf.compat.as_str_any`.
    """
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """Returns a path as a text; what is no path stays as it is.

    Source: `tf.compat.path_to_str`.
    """
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Tells whether programs may use what TensorFlow had at a date: always.

    Args:
        year: accepted; not used.
        month: accepted; not used.
        day: accepted; not used.

    Source: `tf.compat.forward_compatible`.
    """
    return True
