"""Errors about operands: what `except tf.errors.InvalidArgumentError`, ValueError or TypeError of a script catches.

TensorFlow's class depends on where an operand is refused: a text beside a float is an InvalidArgumentError eagerly and a
TypeError in a program, shapes that do not fit an InvalidArgumentError eagerly and a ValueError in a program. JAX raises
TypeError for most of it, and IndexError. So what is raised here is both a ValueError and a TypeError.
"""

import os
import re
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from spmd.replica import is_per_replica

_LONGEST = 60
_MOST = 4
# Errors that are made anew: these classes and no subclasses, which mean something of their own.
_MADE_ANEW = (TypeError, IndexError, ValueError)
# What JAX says of a value that is no array, nor a number.
_NO_ARRAY = re.compile(
    "as an abstract array|as a JAX value|valid JAX (array )?type|requires ndarray or scalar|numeric"
)
_JAX = os.path.join(os.path.dirname(os.path.abspath(jax.__file__)), "")


class OperandError(ValueError, TypeError):
    """Operands that do not fit together, or that are no arrays, numbers or lists of these."""


def explained(caller: str, error: Exception, operands: Sequence[Any]) -> OperandError | None:
    """Makes the error of JAX one that TensorFlow's scripts catch.

    Args:
        caller: what was called, such as `"tf.concat"` or `"x + y"`.
        error: what JAX raised.
        operands: what it was called with.

    Returns:
        The error to raise; None if the first one is fine as it is.
    """
    if type(error) not in _MADE_ANEW or not _is_of_jax(error):
        return None
    shown = ", ".join(map(describe, operands))
    has_text = any(map(_is_text, jax.tree.leaves(list(operands), is_leaf=is_per_replica)))
    if has_text and _NO_ARRAY.search(str(error)):  # a text may also be an option, such as "SAME"
        return OperandError(
            f"{caller}: expected numbers, got {shown}. Texts stay on the host: convert them before, with float(...) or "
            "np.strings."
        )
    return OperandError(f"{caller}: {str(error).rstrip('.')}. The arguments are {shown}.")


def describe(operand: Any) -> str:
    """Says what an operand is: dtype and shape of an array, and whatever else as it is written."""
    if isinstance(operand, list | tuple):
        shown = ", ".join(map(describe, operand[:_MOST]))
        return f"[{shown}, ...]" if len(operand) > _MOST else f"[{shown}]"
    is_variable = hasattr(operand, "__jax_array__") and not isinstance(operand, jax.Array)
    is_array = isinstance(operand, jax.Array | np.ndarray) and operand.ndim
    if isinstance(operand, Tracer) or is_variable or is_array:
        dtype = getattr(operand.dtype, "name", operand.dtype)  # Keras says it in a text
        return f"{dtype}{list(operand.shape)}"
    text = repr(operand)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _is_of_jax(error: Exception) -> bool:
    """Tells whether code of JAX raised an error, though it may have removed itself from the traceback."""
    if any("JAX" in note for note in getattr(error, "__notes__", ())):
        return True
    if type(error.__cause__).__module__.startswith("jax"):
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(_JAX)


def _is_text(leaf: Any) -> bool:
    return isinstance(leaf, str | bytes) or (
        isinstance(leaf, np.ndarray | np.generic) and leaf.dtype.kind in "OSU"
    )
