"""Errors for Python code that needs the value of a tensor while a program is traced."""

import linecache
import traceback

import jax

from spmd.source_lines import is_user_file

NEEDS_VALUE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)
_TRUTH = (
    "Python needs to know whether a tensor is true{where}, but its value is known only when the program runs. `if`, `while`, "
    "`for`, `and`, `or` and `not` may ask tensors in functions that tf.function and strategy.run rewrite; these leave out "
    "comprehensions, functions with `:=` or `match`, libraries, and what says autograph=False. Write the line without them, "
    "or use tf.cond, tf.where or tf.while_loop."
)
_VALUE = (
    "Python needs the value of a tensor{where}, as a number, an array of NumPy, a size, an axis or a count, but it is known "
    "only when the program runs. Take sizes from x.shape or tf.shape(x), and functions of tf in place of NumPy's; "
    "tf.py_function calls Python when the program runs."
)


class OperatorNotAllowedInGraphError(TypeError):
    """Python code needs the value of a tensor while a program is traced.

    Source: `tf.errors.OperatorNotAllowedInGraphError`.
    """


def needs_number(error: Exception) -> bool:
    """Tells whether an error says that a number is not known yet, and not merely whether something is true."""
    is_truth = isinstance(error, jax.errors.TracerBoolConversionError)
    return isinstance(error, NEEDS_VALUE) and not is_truth


def not_allowed(error: Exception) -> OperatorNotAllowedInGraphError:
    """Makes the error that a user sees of what JAX raises for the value of a traced array.

    Args:
        error: an instance of `NEEDS_VALUE`.

    Returns:
        An error with the traceback of the other one, which names the user's line.
    """
    text = _VALUE if needs_number(error) else _TRUTH
    found = OperatorNotAllowedInGraphError(text.format(where=_line(error)))
    return found.with_traceback(error.__traceback__)


def _line(error: Exception) -> str:
    """Writes the innermost line of the user's."""
    frames = [
        (frame.f_code, number)
        for frame, number in traceback.walk_tb(error.__traceback__)
        if is_user_file(frame.f_code.co_filename)
    ]
    if not frames:
        return ""
    code, number = frames[-1]
    text = linecache.getline(code.co_filename, number).strip()
    return f" at {code.co_filename}:{number} ({code.co_name}), `{text}`"
