"""Operators of arrays that take what TensorFlow's take, and refuse what these refuse.

`[1, 2] + x` and `p.values[0] + p.values[1]` are errors in JAX. Here a list becomes an array of the other operand's
dtype, a large integer a floating-point number where the array has these, and operands on different devices of
this process are brought to one. What does not fit raises an error that a script's `except` catches
(`ops/operand_errors.py`). Operands that JAX takes cost no more than the call of a function: nothing is looked at
before JAX refuses.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from frontends.tf._symbolic import has_symbolic
from frontends.tf.dtypes import large_number
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.operand_errors import OperandError, describe, explained
from frontends.tf.selected import Selected
from frontends.tf.tensor_shape import TensorShape
from spmd.topology import brought_together

_ARITHMETIC = {
    **{"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%"},
    **{"divmod": "divmod", "pow": "**", "matmul": "@"},
    **{"and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>"},
}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_REFLECTED = {
    **{f"__{name}__": f"__r{name}__" for name in _ARITHMETIC},
    **{"__lt__": "__gt__", "__gt__": "__lt__", "__le__": "__ge__", "__ge__": "__le__"},
}
_SYMBOLS = {
    **{f"__{name}__": symbol for name, symbol in (_ARITHMETIC | _COMPARISONS).items()},
    **{f"__r{name}__": symbol for name, symbol in _ARITHMETIC.items()},
}
OPERATORS = tuple(_SYMBOLS)


# No other subclasses of tuple, which may have operators of their own.
_SEQUENCES = frozenset({list, tuple, TensorShape})


def tolerant(operator: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Makes an operator that takes what TensorFlow takes.

    Args:
        operator: a method of JAX's arrays with one operand besides the array.
        name: of the method; JAX calls several the same.
    """

    @functools.wraps(operator)
    def method(self: Any, other: Any) -> Any:
        if type(other) in _SEQUENCES:
            other = convert_to_tensor(other, self.dtype)
        try:
            found = operator(self, other)
        except (ValueError, TypeError) as error:
            if isinstance(other, Selected) or has_symbolic(other):
                return NotImplemented  # its own operator computes
            together = brought_together((self, other))
            if together is None:
                return _instead(name, self, other, error)
        except OverflowError:
            if type(other) is not int:
                raise
            together = (self, large_number(other, self.dtype))
        else:
            if found is NotImplemented and _refuses(name, self, other):
                raise OperandError(
                    f"{_written(name, self, other)}: expected an array, a number or a list of numbers beside an array, "
                    f"got {describe(other)} ({type(other).__name__})."
                )
            return found
        return operator(*together)

    return method


def _instead(name: str, array: Any, other: Any, error: ValueError | TypeError) -> Any:
    """Returns what an operator gives where JAX raised an error, or raises the error that scripts catch."""
    if name in ("__eq__", "__ne__") and not _fit(array, other):
        # As in TensorFlow: arrays of such shapes are not equal.
        return jnp.asarray(name == "__ne__")
    found = explained(_written(name, array, other), error, [array, other])
    if found is None:
        raise error
    raise found from None


def _written(name: str, array: Any, other: Any) -> str:
    """Writes the operation as it stands in the script."""
    left, right = ("y", "x") if name.startswith("__r") and name != "__rshift__" else ("x", "y")
    symbol = _SYMBOLS[name]
    return f"divmod({left}, {right})" if symbol == "divmod" else f"{left} {symbol} {right}"


def _fit(array: Any, other: Any) -> bool:
    try:
        np.broadcast_shapes(np.shape(array), np.shape(other))
    except ValueError:
        return False
    return True


def _refuses(name: str, array: Any, other: Any) -> bool:
    """Tells whether nobody computes this: JAX does not, and Python has nothing else to ask."""
    if name in ("__eq__", "__ne__"):
        return False  # Python compares identities
    if name in ("__mul__", "__rmul__") and hasattr(other, "__len__") and not array.ndim:
        return False  # "ab" * tf.constant(2)
    if isinstance(other, str | bytes):
        return True
    reflected = _REFLECTED.get(name)
    if reflected is None:
        return True  # Python has asked the other one before
    own = getattr(type(other), reflected, None)
    return own is None or own is getattr(object, reflected, None)
