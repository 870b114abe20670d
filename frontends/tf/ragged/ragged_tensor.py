"""`tf.RaggedTensor`: rows of different lengths, in host memory.

Values stand one after the other in an array, and the splits say where a row begins. The values of a ragged tensor with
several ragged dimensions are ragged themselves.
"""

import itertools
from collections.abc import Sequence
from typing import Any, NoReturn, Self, final

import numpy as np

from frontends.tf._typing import DTypeLike, HostLike, TensorLike
from frontends.tf._user_view import as_dtype_seen
from frontends.tf.data.host_arrays import host_array, integers, shown, zero_of
from frontends.tf.data.host_tensors import HostTensor
from frontends.tf.data.tracing import run_as_python
from frontends.tf.ragged import partitions
from frontends.tf.ragged.factories import Factories, values_of
from frontends.tf.ragged.joining import joined
from frontends.tf.ragged.merging import merged
from frontends.tf.ragged.operators import Operators, count_of
from frontends.tf.ragged.slicing import item, part, taken
from frontends.tf.sparse.sparse_tensor import SparseTensor
from frontends.tf.tensor_shape import TensorShape

_NOT_DENSE = (
    "A tf.RaggedTensor is in host memory, and here an array is needed: steps and models get dense arrays.\n"
    "Fix: dataset.map(lambda x: x.to_tensor()), with the lengths beside, if they are needed: (x.to_tensor(), x.row_lengths())"
)


@final
class RaggedTensor(Factories, Operators):
    """Rows of different lengths; `tf.ragged.constant` and the methods `from_...` make them.

    A step gets dense arrays: call `to_tensor` in a map of the dataset.

    Examples:
        >>> from frontends import tf
        >>> rows = tf.RaggedTensor.from_row_lengths(values=[3, 1, 4, 1, 5], row_lengths=[2, 0, 3])
        >>> rows.to_list()
        [[3, 1], [], [4, 1, 5]]
        >>> print(rows.to_tensor())
        [[3 1 0]
         [0 0 0]
         [4 1 5]]

    Source: `tf.RaggedTensor`.
    """

    __slots__ = ()
    # NumPy's arrays leave operators to this class.
    __array_ufunc__ = None

    # ------------------------------------------------------------------------------------ parts

    @property
    def values(self) -> Any:
        """The rows one after the other: an array, or a ragged tensor.

        Source: `tf.RaggedTensor.values`.
        """
        return self._values if isinstance(self._values, RaggedTensor) else shown(self._values)

    @property
    def flat_values(self) -> Any:
        """The values of the innermost ragged dimension, an array.

        Source: `tf.RaggedTensor.flat_values`.
        """
        return shown(self._flat)

    @property
    def row_splits(self) -> Any:
        """Where rows begin, and the last one ends; int64.

        Source: `tf.RaggedTensor.row_splits`.
        """
        return shown(self._splits)

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The splits of each level, the outermost first.

        Source: `tf.RaggedTensor.nested_row_splits`.
        """
        inner = self._values
        rest = inner.nested_row_splits if isinstance(inner, RaggedTensor) else ()
        return (self.row_splits, *rest)

    @property
    def uniform_row_length(self) -> Any:
        """The length of all rows if it is fixed, or None.

        Source: `tf.RaggedTensor.uniform_row_length`.
        """
        return self._uniform

    @property
    def ragged_rank(self) -> int:
        """How many dimensions are ragged.

        Source: `tf.RaggedTensor.ragged_rank`.
        """
        inner = self._values
        return 1 + (inner.ragged_rank if isinstance(inner, RaggedTensor) else 0)

    @property
    def dtype(self) -> Any:
        """Type of the values.

        Source: `tf.RaggedTensor.dtype`.
        """
        return as_dtype_seen(self._flat.dtype)

    @property
    def shape(self) -> TensorShape:
        """Sizes of the dimensions; None for ragged ones.

        Source: `tf.RaggedTensor.shape`.
        """
        inner = self._values
        rest = list(inner.shape if isinstance(inner, RaggedTensor) else np.shape(inner))
        return TensorShape([len(self._splits) - 1, self._uniform, *rest[1:]])

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return (
            1 + np.ndim(self._values)
            if not isinstance(self._values, RaggedTensor)
            else 1 + self._values.ndim
        )

    def get_shape(self) -> TensorShape:
        """Returns the sizes of the dimensions.

        Source: `tf.RaggedTensor.get_shape`.
        """
        return self.shape

    @property
    def _flat(self) -> np.ndarray:
        inner = self._values
        return inner._flat if isinstance(inner, RaggedTensor) else inner

    @property
    def lengths(self) -> np.ndarray:
        """The lengths of the rows, as NumPy's array. TensorFlow has `row_lengths()` alone."""
        return np.diff(self._splits)

    def nrows(self, out_type: DTypeLike = None, name: str | None = None) -> Any:
        """Returns the number of rows.

        Source: `tf.RaggedTensor.nrows`.
        """
        return _typed(np.int64(len(self._splits) - 1), out_type)

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """Returns the lengths of rows.

        Args:
            axis: the dimension whose sizes to return; ragged for those further in.

        Raises:
            ValueError: there is no such axis.

        Source: `tf.RaggedTensor.row_lengths`.
        """
        axis = self._axis(axis)
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return shown(self.lengths)
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        shape = np.shape(self._values)
        return self.with_values(np.full(shape[: axis - 1], shape[axis - 1], np.int64))

    def nested_row_lengths(self, name: str | None = None) -> tuple[Any, ...]:
        """Returns the lengths in each level, the outermost first.

        Source: `tf.RaggedTensor.nested_row_lengths`.
        """
        return tuple(shown(np.diff(splits)) for splits in self.nested_row_splits)

    def value_rowids(self, name: str | None = None) -> Any:
        """Returns the number of each value's row.

        Source: `tf.RaggedTensor.value_rowids`.
        """
        return shown(partitions.rows_of(self.lengths))

    def nested_value_rowids(self, name: str | None = None) -> tuple[Any, ...]:
        """Returns the row numbers in each level, the outermost first.

        Source: `tf.RaggedTensor.nested_value_rowids`.
        """
        return tuple(
            shown(partitions.rows_of(np.diff(splits))) for splits in self.nested_row_splits
        )

    def row_starts(self, name: str | None = None) -> Any:
        """Returns where rows begin.

        Source: `tf.RaggedTensor.row_starts`.
        """
        return shown(self._splits[:-1])

    def row_limits(self, name: str | None = None) -> Any:
        """Returns where rows end.

        Source: `tf.RaggedTensor.row_limits`.
        """
        return shown(self._splits[1:])

    def bounding_shape(
        self, axis: HostLike = None, name: str | None = None, out_type: DTypeLike = None
    ) -> Any:
        """Returns the smallest dense shape that holds all rows.

        Args:
            axis: the dimension or dimensions to return; None means all.
            out_type: dtype of the result; None means int64.

        Source: `tf.RaggedTensor.bounding_shape`.
        """
        shape = np.array(self._bounds(), np.int64)
        found = shape if axis is None else shape[integers(axis, "bounding_shape: axis")]
        return _typed(found, out_type)

    def _bounds(self) -> list[int]:
        inner = self._values
        rest = inner._bounds() if isinstance(inner, RaggedTensor) else list(np.shape(inner))
        longest = int(self.lengths.max(initial=0)) if self._uniform is None else self._uniform
        return [len(self._splits) - 1, longest, *rest[1:]]

    # ------------------------------------------------------------------------------------ other values

    def with_values(self, new_values: HostLike) -> "RaggedTensor":
        """Returns a ragged tensor of the same rows with other values.

        Raises:
            ValueError: there are fewer or more.

        Source: `tf.RaggedTensor.with_values`.
        """
        found = values_of(new_values)
        if count_of(found) != int(self._splits[-1]):
            raise ValueError(
                f"with_values: expected {int(self._splits[-1])} values, as many as before, got {count_of(found)}."
            )
        return RaggedTensor(found, self._splits, self._uniform)

    def with_flat_values(self, new_values: HostLike) -> "RaggedTensor":
        """Returns a ragged tensor of the same nested rows with other values.

        Raises:
            ValueError: there are fewer or more.

        Source: `tf.RaggedTensor.with_flat_values`.
        """
        inner = self._values
        return self.with_values(
            inner.with_flat_values(new_values) if isinstance(inner, RaggedTensor) else new_values
        )

    def with_row_splits_dtype(self, dtype: DTypeLike) -> "RaggedTensor":
        """Returns the ragged tensor as it is: splits have int64 here.

        Source: `tf.RaggedTensor.with_row_splits_dtype`.
        """
        return self

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Makes one dimension of several.

        Args:
            outer_axis: the first one.
            inner_axis: the last one.

        Returns:
            A ragged tensor; an array, if no ragged dimension is left.

        Raises:
            ValueError: there are no such dimensions.

        Source: `tf.RaggedTensor.merge_dims`.
        """
        first, last = self._axis(outer_axis), self._axis(inner_axis)
        if first > last:
            raise ValueError(
                f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis ({inner_axis})."
            )
        return _shown(merged(self, first, last))

    def to_list(self) -> list[Any]:
        """Returns nested lists.

        Source: `tf.RaggedTensor.to_list`.
        """
        inner = self._values
        flat = inner.to_list() if isinstance(inner, RaggedTensor) else inner.tolist()
        ends = self._splits.tolist()
        return [flat[start:stop] for start, stop in itertools.pairwise(ends)]

    def numpy(self) -> np.ndarray:
        """Returns an array of rows, as objects where their lengths differ.

        Source: `tf.RaggedTensor.numpy`.
        """
        rows = [
            row.numpy() if isinstance(row, RaggedTensor) else np.asarray(row)
            for row in self._rows()
        ]
        if len({row.shape for row in rows}) == 1 and not any(row.dtype == object for row in rows):
            return np.stack(rows)
        array = np.empty(len(rows), object)
        for number, row in enumerate(rows):
            array[number] = row
        return array

    def to_tensor(
        self, default_value: TensorLike = None, name: str | None = None, shape: HostLike = None
    ) -> Any:
        """Makes a dense array, padded at the ends of rows.

        Args:
            default_value: what to pad with; None means zero, or the empty text.
            shape: of the result; None in it stands for the longest row. What does not fit is cut off.

        Returns:
            An array in host memory.

        Raises:
            ValueError: the shape has another rank.

        Source: `tf.RaggedTensor.to_tensor`.
        """
        flat = self._flat
        kind = flat.dtype
        default = (
            zero_of(kind)
            if default_value is None
            else host_array(
                default_value, "to_tensor: default_value", "string" if kind.kind == "O" else kind
            )[()]
        )
        wanted = self._bounds()
        if shape is not None:
            sizes = list(shape) if not hasattr(shape, "as_list") else shape.as_list()
            if len(sizes) != len(wanted):
                raise ValueError(
                    f"to_tensor: shape {sizes} must have {len(wanted)} sizes, as {self.shape}."
                )
            wanted = [
                most if size is None or int(size) < 0 else int(size)
                for most, size in zip(wanted, sizes, strict=True)
            ]
        depth = self.ragged_rank + 1
        if tuple(wanted[depth:]) != flat.shape[1:]:
            raise ValueError(
                f"to_tensor: shape {wanted} does not fit values of shape {flat.shape[1:]}."
            )
        result = np.empty(wanted, kind)
        result[...] = default
        where = partitions.coordinates([np.diff(splits) for splits in self.nested_row_splits])
        inside = (where < np.array(wanted[:depth])).all(axis=1)
        result[tuple(where[inside].T)] = flat[inside]
        return shown(result)

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """Makes a sparse tensor.

        Source: `tf.RaggedTensor.to_sparse`.
        """
        flat, depth = self._flat, self.ragged_rank + 1
        where = partitions.coordinates([np.diff(splits) for splits in self.nested_row_splits])
        inner = flat.shape[1:]
        count = int(np.prod(inner))
        rest = np.indices(inner).reshape(len(inner), count).T
        indices = np.concatenate(
            [np.repeat(where, count, axis=0), np.tile(rest, (len(flat), 1))], axis=1
        )
        return SparseTensor(
            indices.reshape(-1, depth + len(inner)), flat.reshape(-1), self._bounds()
        )

    # ------------------------------------------------------------------------------------ items

    def row(self, number: int) -> Any:
        """Returns a row: an array, or a ragged tensor. TensorFlow has `x[number]` alone.

        Raises:
            IndexError: there is no such row.
        """
        count = len(self._splits) - 1
        if not -count <= number < count:
            raise IndexError(f"Row {number} is out of bounds: there are {count} rows.")
        number %= count
        return part(self._values, int(self._splits[number]), int(self._splits[number + 1]))

    def _rows(self) -> list[Any]:
        return [self.row(number) for number in range(len(self._splits) - 1)]

    def take(self, numbers: np.ndarray) -> "RaggedTensor":
        """Returns some of the rows, by their numbers. TensorFlow has `tf.gather`."""
        lengths = self.lengths[numbers]
        places = np.repeat(self._splits[:-1][numbers], lengths) + partitions.places(lengths)
        return RaggedTensor(
            taken(self._values, places), partitions.splits_of(lengths), self._uniform
        )

    def __getitem__(self, key: HostLike) -> Any:
        keys = list(key) if isinstance(key, tuple) else [key]
        if any(one is Ellipsis for one in keys):
            at = next(number for number, one in enumerate(keys) if one is Ellipsis)
            given = sum(one is not None for one in keys) - 1
            keys[at : at + 1] = [slice(None)] * (self.ndim - given)
        return _shown(item(self, keys))

    def __iter__(self) -> Any:
        return iter([_shown(row) for row in self._rows()])

    def __bool__(self) -> NoReturn:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError(_NOT_DENSE)

    def __jax_array__(self) -> Any:
        run_as_python(_NOT_DENSE)
        raise TypeError(_NOT_DENSE)

    def __repr__(self) -> str:
        return f"<tf.RaggedTensor {self.to_list()}>"

    # ------------------------------------------------------------------------------------ datasets

    @property
    def row_count(self) -> int:
        """How many rows a batch has; see `spmd.input.pipeline.Stackable`."""
        return len(self._splits) - 1

    def stacked(self, others: Sequence[Self]) -> "RaggedTensor":
        """Returns a batch of this ragged tensor and others; see `spmd.input.pipeline.Stackable`."""
        parts = [self, *others]
        counts = np.array([part.row_count for part in parts])
        return RaggedTensor(joined(parts), partitions.splits_of(counts))

    def rows(self) -> list[Any]:
        """Returns the rows of a batch; see `spmd.input.pipeline.Stackable`."""
        return [row if isinstance(row, RaggedTensor) else row.view(Row) for row in self._rows()]

    def described(self) -> tuple[type, tuple[int | None, ...], np.dtype, int]:
        """Describes it for the spec of a dataset; see `spmd.input.pipeline.Stackable`."""
        return RaggedTensor, (None, *self.shape[1:]), self._flat.dtype, self.ragged_rank

    # ------------------------------------------------------------------------------------ helpers

    def _axis(self, axis: int) -> int:
        if not -self.ndim <= axis < self.ndim:
            raise ValueError(
                f"axis={axis} is out of bounds: the ragged tensor has {self.ndim} dimensions."
            )
        return axis % self.ndim


class Row(HostTensor):
    """A row of a ragged tensor in a dataset, whose rows have different lengths: a batch of them is ragged."""

    @property
    def row_count(self) -> int:
        """How many rows it has; see `spmd.input.pipeline.Stackable`."""
        return len(self)

    def stacked(self, others: "Sequence[Any]") -> RaggedTensor:
        """Returns a batch of this row and others; see `spmd.input.pipeline.Stackable`."""
        return stacked_rows([self, *others])

    def rows(self) -> Any:
        """Returns the entries; see `spmd.input.pipeline.Stackable`."""
        return self.view(np.ndarray)

    def described(self) -> tuple[type, tuple[int | None, ...], np.dtype, int]:
        """Describes it for the spec of a dataset; see `spmd.input.pipeline.Stackable`."""
        entries = self.view(np.ndarray)
        return RaggedTensor, (None, *entries.shape[1:]), entries.dtype, 0


def stacked_rows(rows: Sequence[np.ndarray]) -> RaggedTensor:
    """Makes a ragged tensor of arrays whose first sizes differ."""
    lengths = np.array([len(row) for row in rows])
    return RaggedTensor(
        np.concatenate([row.view(np.ndarray) for row in rows]), partitions.splits_of(lengths)
    )


def _shown(value: HostLike) -> Any:
    return value if isinstance(value, RaggedTensor) else shown(value)


def _typed(value: HostLike, dtype: DTypeLike) -> Any:
    return shown(value if dtype is None else host_array(value, "out_type", dtype))
