"""`tf.TensorShape`: the shape of an array, of which parts may be unknown."""

import math
import operator
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import jax
import jax.export

from frontends.tf._typing import ShapeLike
from frontends.tf.dimension import Dimension


class TensorShape(tuple[int | None, ...]):
    """A shape; None is a dimension that is not known.

    It is a tuple: it equals one, hashes like one, and whatever takes a tuple takes it. As in TensorFlow, a
    slice of it and the sum with a list are shapes, and it equals a list of the same sizes. Sizes have the
    attribute `value`, as in TensorFlow 1. Unlike TensorFlow's, the shape `[]` is false, as an empty tuple is.

    Examples:
        >>> from frontends import tf
        >>> shape = tf.TensorShape([None, 28, 28])
        >>> shape.as_list(), shape[1:].num_elements()
        ([None, 28, 28], 784)
        >>> tf.TensorShape(5), tf.TensorShape(None)
        (TensorShape([5]), TensorShape(None))

    Source: `tf.TensorShape`.
    """

    __slots__ = ()

    def __new__(cls, dims: ShapeLike = None) -> "TensorShape":
        """Makes a shape.

        Args:
            dims: sizes; one number for a shape with one dimension; None if even their number is unknown.

        Raises:
            TypeError: a size is no integer.
            ValueError: a size is negative.
        """
        if dims is None:
            return UNKNOWN
        if isinstance(dims, TensorShape):
            return dims
        sizes = dims if isinstance(dims, Iterable) and getattr(dims, "ndim", 1) else [dims]
        return tuple.__new__(cls, map(_size, sizes))

    @property
    def rank(self) -> int | None:
        """How many dimensions there are, or None if that is not known."""
        return len(self)

    @property
    def ndims(self) -> int | None:
        """How many dimensions there are; see `rank`."""
        return self.rank

    @property
    def dims(self) -> "list[Dimension] | None":
        """The dimensions, as objects that have their size as `value`; None if the rank is not known."""
        return [Dimension(size) for size in tuple.__iter__(self)]

    def as_list(self) -> list[int | None]:
        """Returns the sizes as a list.

        Raises:
            ValueError: the rank is not known.
        """
        return list(tuple.__iter__(self))

    def is_fully_defined(self) -> bool:
        """Tells whether every dimension is known."""
        return None not in self

    def num_elements(self) -> int | None:
        """Returns how many elements there are, or None if that is not known."""
        known = [size for size in self if size is not None]
        return math.prod(known) if self.is_fully_defined() else None

    def concatenate(self, other: ShapeLike) -> "TensorShape":
        """Returns the shape with the dimensions of another one behind its own."""
        other = TensorShape(other)
        if self.rank is None or other.rank is None:
            return UNKNOWN
        return _made((*self, *other))

    def is_compatible_with(self, other: ShapeLike) -> bool:
        """Tells whether one array can have both shapes."""
        other = TensorShape(other)
        if self.rank is None or other.rank is None:
            return True
        return len(self) == len(other) and all(map(_agree, self, other))

    def is_subtype_of(self, other: "TensorShape") -> bool:
        """Tells whether every array of this shape has the other one, too."""
        if other.rank is None:
            return True
        pairs = zip(self, other, strict=False)
        return self.rank == other.rank and all(size in (None, own) for own, size in pairs)

    def merge_with(self, other: ShapeLike) -> "TensorShape":
        """Returns what both shapes together say.

        Raises:
            ValueError: no array can have both.
        """
        other = TensorShape(other)
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        if self.rank is None or other.rank is None:
            return other if self.rank is None else self
        return _made(
            theirs if own is None else own for own, theirs in zip(self, other, strict=True)
        )

    def most_specific_compatible_shape(self, other: ShapeLike) -> "TensorShape":
        """Returns the shape that says no more than what both say."""
        other = TensorShape(other)
        if self.rank is None or self.rank != other.rank:
            return UNKNOWN
        return _made(
            own if own == theirs else None for own, theirs in zip(self, other, strict=True)
        )

    def with_rank(self, rank: int) -> "TensorShape":
        """Returns the shape, with that many dimensions.

        Raises:
            ValueError: it has another number of dimensions.
        """
        self.assert_has_rank(rank)
        return _made([None] * rank) if self.rank is None else self

    def with_rank_at_least(self, rank: int) -> "TensorShape":
        """Returns the shape.

        Raises:
            ValueError: it has fewer dimensions.
        """
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> "TensorShape":
        """Returns the shape.

        Raises:
            ValueError: it has more dimensions.
        """
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError if the number of dimensions is known, and another one."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: ShapeLike) -> None:
        """Raises ValueError if the ranks of both shapes are known, and differ."""
        other = TensorShape(other)
        if None not in (self.rank, other.rank) and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_is_compatible_with(self, other: ShapeLike) -> None:
        """Raises ValueError if no array can have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError if a dimension is not known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return _made(found) if isinstance(key, slice) else _seen(found)

    def __iter__(self) -> Iterator[Any]:
        return map(_seen, tuple.__iter__(self))

    def __add__(self, other: ShapeLike) -> "TensorShape":  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.concatenate(other) if _is_shape(other) else NotImplemented

    def __radd__(self, other: ShapeLike) -> "TensorShape":
        return TensorShape(other).concatenate(self) if _is_shape(other) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        equal = self == other
        return equal if equal is NotImplemented else not equal

    __hash__ = tuple.__hash__

    def __str__(self) -> str:
        return tuple.__repr__(self)

    def __repr__(self) -> str:
        return f"TensorShape({list(self)})"


class _UnknownShape(TensorShape):
    """The shape of which nothing is known; there is one, `UNKNOWN`."""

    __slots__ = ()

    @property
    def rank(self) -> None:
        """None: it is not known."""

    @property
    def dims(self) -> None:
        """None: they are not known."""

    def as_list(self) -> NoReturn:
        """Raises ValueError: there is no list of unknown length."""
        raise ValueError("as_list() is not defined on an unknown TensorShape.")

    def is_fully_defined(self) -> bool:
        """False: nothing is known."""
        return False

    def __len__(self) -> int:
        raise ValueError("Cannot take the length of shape with unknown rank.")

    def __iter__(self) -> NoReturn:
        raise ValueError("Cannot iterate over a shape with unknown rank.")

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, slice):
            return None
        start, stop = key.start or 0, key.stop
        if stop is None or start < 0 or stop < 0:
            return self
        return _made([None] * max(stop - start, 0))

    def num_elements(self) -> None:
        """None: it is not known."""

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return "<unknown>"

    def __repr__(self) -> str:
        return "TensorShape(None)"

    def __reduce__(self) -> Any:
        return TensorShape, (None,)


UNKNOWN: TensorShape = tuple.__new__(_UnknownShape)


class _Size(int):
    """A size that a shape gives: a number, which scripts of TensorFlow 1 ask for its `value`."""

    __slots__ = ()

    @property
    def value(self) -> int:
        """The number."""
        return int(self)


def _seen(size: Any) -> Any:
    """Gives a size the attribute `value`; not what is no number, such as a symbol."""
    return _Size(size) if type(size) is int else size


def _size(value: Any) -> Any:
    if isinstance(value, Dimension):
        value = value.value
    if value is None:
        return None
    if jax.export.is_symbolic_dim(value):
        return value
    try:
        size = int(operator.index(value))
    except TypeError:
        raise TypeError(
            "Dimension value must be integer or None or have an __index__ method, got value "
            f"'{value!r}' with type '{type(value)!r}'"
        ) from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


def _agree(first: int | None, second: int | None) -> bool:
    return first is None or second is None or first == second


def _is_shape(value: object) -> bool:
    return value is None or isinstance(value, list | tuple)


def _made(sizes: Iterable[Any]) -> TensorShape:
    """Makes a shape of sizes that are right; while JAX transforms, anything may stand for one."""
    return tuple.__new__(TensorShape, sizes)


def _flatten(shape: TensorShape) -> tuple[tuple[Any, ...], bool]:
    known = shape.rank is not None
    return (tuple(shape) if known else ()), known


def _unflatten(known: bool, sizes: Iterable[Any]) -> TensorShape:
    return _made(sizes) if known else UNKNOWN


# To JAX a subclass of tuple would be a leaf, and a function that returns `x.shape` could not be compiled.
jax.tree_util.register_pytree_node(TensorShape, _flatten, _unflatten)
jax.tree_util.register_pytree_node(_UnknownShape, _flatten, _unflatten)
