"""Operators of arrays that also take lists, and operands on different devices.

`[1, 2] + x` and `p.values[0] + p.values[1]` are errors in JAX. Here a list becomes an array of the other operand's
dtype, a large integer a floating-point number where the array has these, and operands on different devices of this
process are brought to one. Operands that JAX takes cost no
more than the call of a function: nothing is looked at before JAX refuses.
"""

import functools
from collections.abc import Callable
from typing import Any

from frontends.tf.dtypes import large_number
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.tensor_shape import TensorShape
from spmd.topology import brought_together

_ARITHMETIC = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
)
OPERATORS = tuple(
    f"__{name}__"
    for name in (
        *_ARITHMETIC,
        *(f"r{name}" for name in _ARITHMETIC),
        *("eq", "ne", "lt", "le", "gt", "ge"),
    )
)


# No other subclasses of tuple, which may have operators of their own.
_SEQUENCES = frozenset({list, tuple, TensorShape})


def tolerant(operator: Callable[..., Any]) -> Callable[..., Any]:
    """Makes an operator that takes what TensorFlow takes.

    Args:
        operator: a method of JAX's arrays with one operand besides the array.
    """

    @functools.wraps(operator)
    def method(self: Any, other: Any) -> Any:
        if type(other) in _SEQUENCES:
            other = convert_to_tensor(other, self.dtype)
        try:
            return operator(self, other)
        except ValueError:
            together = brought_together((self, other))
            if together is None:
                raise
        except OverflowError:
            if type(other) is not int:
                raise
            together = (self, large_number(other, self.dtype))
        return operator(*together)

    return method
