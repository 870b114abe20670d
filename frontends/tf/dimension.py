"""`tf.compat.v1.Dimension`: a size of a shape, as an object."""

import operator
from collections.abc import Callable
from typing import Any

import jax.export


class Dimension:
    """A size of a shape, as an object, which may be unknown.

    What is compared or computed with an unknown size is None, or unknown.

    Examples:
        >>> from frontends import tf
        >>> size = tf.compat.v1.Dimension(None)
        >>> size.is_compatible_with(16), size.merge_with(16), size + 1
        (True, Dimension(16), Dimension(None))

    Source: `tf.compat.v1.Dimension`.
    """

    __slots__ = ("_value",)

    def __init__(self, value: "int | Dimension | None") -> None:
        """Wraps a size.

        Raises:
            TypeError: it is not a whole number.
            ValueError: it is negative.
        """
        if not (value is None or isinstance(value, Dimension) or jax.export.is_symbolic_dim(value)):
            try:
                value = operator.index(value)
            except TypeError:
                raise TypeError(
                    f"Dimension value must be an integer or None, got {value!r} of type {type(value).__name__}."
                ) from None
            if value < 0:
                raise ValueError(f"Dimension {value} must be >= 0")
        self._value = value_of(value)

    @property
    def value(self) -> int | None:
        """The size; None if it is not known."""
        return self._value

    def is_compatible_with(self, other: "int | Dimension | None") -> bool:
        """Tells whether both can be sizes of one axis: they are equal, or one is not known."""
        size = Dimension(other).value
        return self.value is None or size is None or self.value == size

    def assert_is_compatible_with(self, other: "int | Dimension | None") -> None:
        """Raises ValueError if the sizes are known, and differ."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {Dimension(other)} are not compatible")

    def merge_with(self, other: "int | Dimension | None") -> "Dimension":
        """Returns the size that is known of the two.

        Raises:
            ValueError: both are known, and differ.
        """
        self.assert_is_compatible_with(other)
        return Dimension(other if self.value is None else self)

    def __int__(self) -> int:
        return operator.index(self)

    def __index__(self) -> int:
        if self.value is None:
            raise TypeError("The size of this dimension is not known.")
        return self.value

    def __eq__(self, other: object) -> Any:
        return self._compared(operator.eq, other)

    def __ne__(self, other: object) -> Any:
        return self._compared(operator.ne, other)

    def __lt__(self, other: "int | Dimension | None") -> Any:
        return self._compared(operator.lt, other)

    def __le__(self, other: "int | Dimension | None") -> Any:
        return self._compared(operator.le, other)

    def __gt__(self, other: "int | Dimension | None") -> Any:
        return self._compared(operator.gt, other)

    def __ge__(self, other: "int | Dimension | None") -> Any:
        return self._compared(operator.ge, other)

    __hash__ = None  # pyright: ignore[reportAssignmentType] it may be compared with what it does not equal

    def __add__(self, other: "int | Dimension | None") -> "Dimension":
        return self._with(operator.add, other)

    def __sub__(self, other: "int | Dimension | None") -> "Dimension":
        return self._with(operator.sub, other)

    def __rsub__(self, other: "int | Dimension | None") -> "Dimension":
        return Dimension(other) - self

    def __mul__(self, other: "int | Dimension | None") -> "Dimension":
        return self._with(operator.mul, other)

    def __floordiv__(self, other: "int | Dimension | None") -> "Dimension":
        return self._with(operator.floordiv, other)

    def __rfloordiv__(self, other: "int | Dimension | None") -> "Dimension":
        return Dimension(other) // self

    def __mod__(self, other: "int | Dimension | None") -> "Dimension":
        return self._with(operator.mod, other)

    def __rmod__(self, other: "int | Dimension | None") -> "Dimension":
        return Dimension(other) % self

    __radd__, __rmul__ = __add__, __mul__

    def _with(self, combine: Callable[[int, int], int], other: Any) -> "Dimension":
        size = value_of(other)
        return Dimension(None if self.value is None or size is None else combine(self.value, size))

    def _compared(self, compare: Callable[[Any, Any], bool], other: Any) -> Any:
        size = value_of(other)
        return None if self.value is None or size is None else compare(self.value, size)

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __repr__(self) -> str:
        return f"Dimension({self.value})"


def value_of(size: Any) -> Any:
    """Returns the number in a size, which may be wrapped.

    Args:
        size: a `Dimension`, a number, or None.
    """
    return size.value if isinstance(size, Dimension) else size
