"""Objects that stand for an array in arithmetic, comparisons and conversions."""

import abc
import operator
from collections.abc import Callable
from typing import Any


class ArrayLike(abc.ABC):
    """Gives the operators of arrays to what has `__jax_array__`.

    Examples:
        >>> import jax.numpy as jnp
        >>> class Constant(ArrayLike):
        ...     def __jax_array__(self):
        ...         return jnp.float32(2)
        >>> float(3 * Constant() + Constant()), int(Constant()), bool(Constant() > 1)
        (8.0, 2, True)
    """

    __slots__ = ()
    __array_priority__ = 100  # NumPy's arrays leave the operation to it

    @abc.abstractmethod
    def __jax_array__(self) -> Any:
        """The array that it stands for."""

    def __float__(self) -> float:
        return float(self.__jax_array__())

    def __int__(self) -> int:
        return int(self.__jax_array__())

    def __index__(self) -> int:
        return operator.index(self.__jax_array__())

    def __bool__(self) -> bool:
        return bool(self.__jax_array__())

    def __format__(self, specification: str) -> str:
        return format(self.__jax_array__(), specification)


def array_of(value: object) -> Any:
    """Returns the array that a value stands for, or the value itself."""
    return value.__jax_array__() if isinstance(value, ArrayLike) else value


def _operator(name: str) -> Callable[..., Any]:
    def method(self: ArrayLike, *operands: object) -> Any:
        return getattr(self.__jax_array__(), name)(*map(array_of, operands))

    method.__name__ = method.__qualname__ = name
    return method


_UNARY = ("neg", "pos", "abs", "invert")
_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
for _name in (*_UNARY, *_BINARY, *(f"r{name}" for name in _BINARY), *_COMPARISONS):
    setattr(ArrayLike, f"__{_name}__", _operator(f"__{_name}__"))
