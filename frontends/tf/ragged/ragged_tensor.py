"""`tf.RaggedTensor`: rows of different lengths, in host memory.

Values stand one after the other in an array, and the splits say where a row begins. The values of a ragged tensor with
several ragged dimensions are ragged themselves.
"""

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Self, final

import numpy as np

from frontends.tf._typing import DTypeLike, HostLike, TensorLike
from frontends.tf._user_view import as_dtype_seen
from frontends.tf.data.host_arrays import host_array, integers, shown, zero_of
from frontends.tf.data.host_tensors import HostTensor
from frontends.tf.ragged import partitions
from frontends.tf.ragged.operators import Operators
from frontends.tf.sparse.sparse_tensor import SparseTensor
from frontends.tf.tensor_shape import TensorShape

_NOT_DENSE = (
    "A tf.RaggedTensor is in host memory, and here an array is needed: steps and models get dense arrays.\n"
    "Fix: dataset.map(lambda x: x.to_tensor()), with the lengths beside, if they are needed: (x.to_tensor(), x.row_lengths())"
)


@final
class RaggedTensor(Operators):
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

    __slots__ = ("_splits", "_uniform", "_values")
    # NumPy's arrays leave operators to this class.
    __array_ufunc__ = None

    def __init__(
        self, values: HostLike, row_splits: np.ndarray, uniform: int | None = None
    ) -> None:
        """Keeps the parts; the methods `from_...` check them.

        Args:
            values: an array or a ragged tensor.
            row_splits: where rows begin, and the last one ends.
            uniform: the length of all rows, if it is fixed.
        """
        self._values, self._splits, self._uniform = values, row_splits, uniform

    # ------------------------------------------------------------------------------------ making

    @classmethod
    def from_row_splits(
        cls,
        values: HostLike,
        row_splits: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> "RaggedTensor":
        """Makes rows of values, by where rows begin and the last one ends.

        Args:
            values: an array or a ragged tensor.
            row_splits: integers, from 0 to the number of values.
            validate: whether to check them.

        Raises:
            ValueError: the splits do not fit the values.

        Source: `tf.RaggedTensor.from_row_splits`.
        """
        found, splits = _values(values), _vector(row_splits, "row_splits")
        if not len(splits):
            raise ValueError("row_splits tensor may not be empty: it begins with 0.")
        if validate:
            if splits[0] != 0:
                raise ValueError(
                    f"Arguments to from_row_splits do not form a valid RaggedTensor: row_splits[0] = {splits[0]}, not 0."
                )
            if (np.diff(splits) < 0).any():
                raise ValueError(
                    f"Arguments to from_row_splits do not form a valid RaggedTensor: row_splits decrease: {splits.tolist()}."
                )
            if splits[-1] != _count(found):
                raise ValueError(
                    f"Arguments to from_row_splits do not form a valid RaggedTensor: the last of row_splits is {splits[-1]}, and there are "
                    f"{_count(found)} values."
                )
        return cls(found, splits)

    @classmethod
    def from_row_lengths(
        cls,
        values: HostLike,
        row_lengths: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> "RaggedTensor":
        """Makes rows of values, by their lengths.

        Raises:
            ValueError: a length is negative, or they do not add up to the number of values.

        Source: `tf.RaggedTensor.from_row_lengths`.
        """
        lengths = _vector(row_lengths, "row_lengths")
        if validate and (lengths < 0).any():
            raise ValueError(
                f"Arguments to from_row_lengths do not form a valid RaggedTensor: negative lengths: {lengths.tolist()}."
            )
        return cls.from_row_splits(values, partitions.splits_of(lengths), validate=validate)

    @classmethod
    def from_value_rowids(
        cls,
        values: HostLike,
        value_rowids: TensorLike,
        nrows: TensorLike = None,
        name: str | None = None,
        validate: bool = True,
    ) -> "RaggedTensor":
        """Makes rows of values, by the number of each value's row.

        Args:
            values: an array or a ragged tensor.
            value_rowids: in ascending order.
            nrows: how many rows there are; None takes the last one that has a value.
            validate: whether to check them.

        Raises:
            ValueError: the numbers do not fit the values.

        Source: `tf.RaggedTensor.from_value_rowids`.
        """
        found, rows = _values(values), _vector(value_rowids, "value_rowids")
        count = _row_count(nrows, int(rows[-1]) + 1 if len(rows) else 0)
        if len(rows) != _count(found):
            raise ValueError(
                f"Arguments to from_value_rowids do not form a valid RaggedTensor: {len(rows)} row ids, and {_count(found)} values."
            )
        if (
            validate
            and len(rows)
            and (rows[0] < 0 or rows[-1] >= count or (np.diff(rows) < 0).any())
        ):
            raise ValueError(
                f"Arguments to from_value_rowids do not form a valid RaggedTensor: expected ascending row ids from 0 to {count - 1}, got "
                f"{rows.tolist()}."
            )
        return cls(found, partitions.splits_of(np.bincount(rows, minlength=count)))

    @classmethod
    def from_row_starts(
        cls,
        values: HostLike,
        row_starts: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> "RaggedTensor":
        """Makes rows of values, by where each begins.

        Raises:
            ValueError: the starts do not ascend from 0 to the number of values.

        Source: `tf.RaggedTensor.from_row_starts`.
        """
        found = _values(values)
        splits = np.append(_vector(row_starts, "row_starts"), _count(found))
        return cls.from_row_splits(found, splits, validate=validate)

    @classmethod
    def from_row_limits(
        cls,
        values: HostLike,
        row_limits: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> "RaggedTensor":
        """Makes rows of values, by where each ends.

        Raises:
            ValueError: the limits do not ascend, or the last one is not the number of values.

        Source: `tf.RaggedTensor.from_row_limits`.
        """
        limits = _vector(row_limits, "row_limits")
        return cls.from_row_splits(values, np.concatenate([[0], limits]), validate=validate)

    @classmethod
    def from_uniform_row_length(
        cls,
        values: HostLike,
        uniform_row_length: TensorLike,
        nrows: TensorLike = None,
        validate: bool = True,
        name: str | None = None,
    ) -> "RaggedTensor":
        """Makes rows of equal length.

        Args:
            values: an array or a ragged tensor.
            uniform_row_length: of each row.
            nrows: how many rows there are, which rows of length 0 do not tell.
            validate: whether to check them.

        Raises:
            ValueError: the values are no whole number of rows.

        Source: `tf.RaggedTensor.from_uniform_row_length`.
        """
        found, length = _values(values), int(integers(uniform_row_length, "uniform_row_length"))
        count = _row_count(nrows, _count(found) // length if length > 0 else 0)
        if length < 0 or (validate and length * count != _count(found)):
            raise ValueError(
                f"Arguments to from_uniform_row_length do not form a valid RaggedTensor: {_count(found)} values are not {count} rows of {length}."
            )
        return cls(found, np.arange(count + 1, dtype=np.int64) * length, length)

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: HostLike,
        nested_row_splits: Sequence[TensorLike],
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Makes nested rows, by the splits of each level, the outermost first.

        Raises:
            ValueError: those of a level do not fit.
            TypeError: the levels are no list.

        Source: `tf.RaggedTensor.from_nested_row_splits`.
        """
        return _nested(cls.from_row_splits, flat_values, nested_row_splits, validate)

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: HostLike,
        nested_row_lengths: Sequence[TensorLike],
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Makes nested rows, by the lengths in each level, the outermost first.

        Raises:
            ValueError: those of a level do not fit.
            TypeError: the levels are no list.

        Source: `tf.RaggedTensor.from_nested_row_lengths`.
        """
        return _nested(cls.from_row_lengths, flat_values, nested_row_lengths, validate)

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: HostLike,
        nested_value_rowids: Sequence[TensorLike],
        nested_nrows: Sequence[TensorLike] | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Makes nested rows, by the row numbers in each level, the outermost first.

        Raises:
            ValueError: those of a level do not fit, or there are not as many `nested_nrows`.

        Source: `tf.RaggedTensor.from_nested_value_rowids`.
        """
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else nested_nrows
        made = flat_values
        for rows, count in zip(reversed(nested_value_rowids), reversed(list(counts)), strict=True):
            made = cls.from_value_rowids(made, rows, count, validate=validate)
        return made

    @classmethod
    def from_tensor(
        cls,
        tensor: TensorLike,
        lengths: HostLike = None,
        padding: TensorLike = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: DTypeLike = "int64",
    ) -> "RaggedTensor":
        """Makes rows of those of a dense array.

        Args:
            tensor: of shape `[rows, columns, ...]`.
            lengths: of each row of the innermost ragged dimension; or of each level, the outermost first.
            padding: what rows end with, to leave it out.
            ragged_rank: how many dimensions become ragged.
            row_splits_dtype: accepted; splits have int64.

        Raises:
            ValueError: both `lengths` and `padding` are given, or an argument does not fit.

        Source: `tf.RaggedTensor.from_tensor`.
        """
        array = host_array(tensor, "from_tensor: tensor")
        if lengths is not None and padding is not None:
            raise ValueError(
                "Specify argument `lengths` or `padding` of `from_tensor`, but not both."
            )
        if not 0 < ragged_rank < array.ndim:
            raise ValueError(
                f"from_tensor: ragged_rank must be from 1 to {array.ndim - 1} for an array of {array.ndim} axes, got {ragged_rank}."
            )
        if isinstance(lengths, list | tuple) and lengths and np.ndim(lengths[0]):
            if ragged_rank not in (1, len(lengths)):
                raise ValueError(
                    f"from_tensor: ragged_rank must be {len(lengths)} for lengths of {len(lengths)} levels, got {ragged_rank}."
                )
            return _with_lengths(cls, array, [integers(one, "lengths") for one in lengths])
        if ragged_rank > 1:
            outer = int(np.prod(array.shape[:ragged_rank]))
            flat = array.reshape(outer, *array.shape[ragged_rank:])
            inner = cls.from_tensor(flat, lengths, padding)
            for axis in range(ragged_rank - 1, 0, -1):
                inner = cls.from_uniform_row_length(
                    inner, array.shape[axis], int(np.prod(array.shape[:axis]))
                )
            return inner
        rows, columns = array.shape[:2]
        if padding is not None:
            given = host_array(
                padding, "from_tensor: padding", None if array.dtype.kind == "O" else array.dtype
            )
            same = array == (given if given.ndim or array.dtype.kind != "O" else given[()])
            same = same.reshape(rows, columns, -1).all(axis=2)
            kept = (
                np.cumsum(~same[:, ::-1], axis=1)[:, ::-1] > 0
            )  # something that is no padding follows
            counts = kept.sum(axis=1)
        elif lengths is not None:
            counts = np.clip(_vector(lengths, "lengths"), 0, columns)
            if len(counts) != rows:
                raise ValueError(
                    f"from_tensor: {rows} rows need as many lengths, got {len(counts)}."
                )
        else:
            counts = np.full(rows, columns)
        mask = np.arange(columns) < counts[:, None]
        uniform = columns if lengths is None and padding is None else None
        return cls(array[mask], partitions.splits_of(counts), uniform)

    @classmethod
    def from_sparse(
        cls, st_input: SparseTensor, name: str | None = None, row_splits_dtype: DTypeLike = "int64"
    ) -> "RaggedTensor":
        """Makes rows of a sparse matrix whose rows have their values at the left.

        Raises:
            TypeError: it is no sparse tensor.
            ValueError: it has no two dimensions, or there are gaps in a row.

        Source: `tf.RaggedTensor.from_sparse`.
        """
        if not isinstance(st_input, SparseTensor):
            raise TypeError(
                f"from_sparse: expected a tf.SparseTensor, got {type(st_input).__name__}."
            )
        indices = np.asarray(st_input.indices)
        if st_input.ndim != 2:
            raise ValueError(f"rank(st_input) must be 2, got {st_input.ndim}.")
        rows = int(np.asarray(st_input.dense_shape)[0])
        counts = np.bincount(indices[:, 0], minlength=rows)
        if (indices[:, 1] != partitions.places(counts)).any():
            raise ValueError(
                "SparseTensor is not right-ragged: rows must have their values at the left, in order."
            )
        return cls(np.array(np.asarray(st_input.values)), partitions.splits_of(counts))

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
        found = _values(new_values)
        if _count(found) != int(self._splits[-1]):
            raise ValueError(
                f"with_values: expected {int(self._splits[-1])} values, as many as before, got {_count(found)}."
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
        return _shown(_merged(self, first, last))

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
        return _part(self._values, int(self._splits[number]), int(self._splits[number + 1]))

    def _rows(self) -> list[Any]:
        return [self.row(number) for number in range(len(self._splits) - 1)]

    def take(self, numbers: np.ndarray) -> "RaggedTensor":
        """Returns some of the rows, by their numbers. TensorFlow has `tf.gather`."""
        lengths = self.lengths[numbers]
        places = np.repeat(self._splits[:-1][numbers], lengths) + partitions.places(lengths)
        return RaggedTensor(
            _taken(self._values, places), partitions.splits_of(lengths), self._uniform
        )

    def __getitem__(self, key: HostLike) -> Any:
        keys = list(key) if isinstance(key, tuple) else [key]
        if any(one is Ellipsis for one in keys):
            at = next(number for number, one in enumerate(keys) if one is Ellipsis)
            given = sum(one is not None for one in keys) - 1
            keys[at : at + 1] = [slice(None)] * (self.ndim - given)
        return _shown(_item(self, keys))

    def __iter__(self) -> Any:
        return iter([_shown(row) for row in self._rows()])

    def __bool__(self) -> NoReturn:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError(_NOT_DENSE)

    def __jax_array__(self) -> Any:
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


def stacked_rows(rows: Sequence[np.ndarray]) -> RaggedTensor:
    """Makes a ragged tensor of arrays whose first sizes differ."""
    lengths = np.array([len(row) for row in rows])
    return RaggedTensor(
        np.concatenate([row.view(np.ndarray) for row in rows]), partitions.splits_of(lengths)
    )


def joined(parts: Sequence[Any]) -> Any:
    """Puts the rows of ragged tensors, or of arrays, one after the other."""
    if not any(isinstance(part, RaggedTensor) for part in parts):
        return np.concatenate(parts)
    made = [part if isinstance(part, RaggedTensor) else _as_ragged(part) for part in parts]
    lengths = np.concatenate([part.lengths for part in made])
    inner = [part._values for part in made]
    if any(isinstance(one, RaggedTensor) for one in inner):
        inner = [one if isinstance(one, RaggedTensor) else _as_ragged(one) for one in inner]
    uniform = {part._uniform for part in made}
    return RaggedTensor(
        joined(inner), partitions.splits_of(lengths), uniform.pop() if len(uniform) == 1 else None
    )


def _as_ragged(array: np.ndarray) -> RaggedTensor:
    rows, columns = array.shape[:2]
    return RaggedTensor(
        array.reshape(rows * columns, *array.shape[2:]),
        np.arange(rows + 1, dtype=np.int64) * columns,
    )


def _shown(value: HostLike) -> Any:
    return value if isinstance(value, RaggedTensor) else shown(value)


def _values(values: HostLike) -> Any:
    if isinstance(values, RaggedTensor):
        return values
    array = host_array(values, "RaggedTensor: values")
    if not array.ndim:
        raise ValueError("RaggedTensor: values must have one axis at least, got a scalar.")
    return array.view(np.ndarray)


def _count(values: HostLike) -> int:
    return values.row_count if isinstance(values, RaggedTensor) else len(values)


def _vector(value: TensorLike, what: str) -> np.ndarray:
    array = integers(value, what)
    if array.ndim != 1:
        raise ValueError(f"{what} must be a vector, got shape {array.shape}.")
    return array


def _row_count(given: TensorLike, found: int) -> int:
    count = found if given is None else int(integers(given, "nrows"))
    if count < 0:
        raise ValueError(f"nrows must not be negative, got {count}.")
    return count


def _typed(value: HostLike, dtype: DTypeLike) -> Any:
    return shown(value if dtype is None else host_array(value, "out_type", dtype))


def _nested(make: Callable[..., Any], flat: Any, levels: Any, validate: bool) -> Any:
    if not isinstance(levels, list | tuple):
        raise TypeError(
            f"Expected a list with one array for each level, got {type(levels).__name__}."
        )
    made = flat
    for level in reversed(levels):
        made = make(made, level, validate=validate)
    return made


def _with_lengths(
    cls: type[RaggedTensor], array: np.ndarray, levels: Sequence[np.ndarray]
) -> RaggedTensor:
    """Cuts a dense array to the lengths in each level."""
    rows: Any = cls.from_tensor(array, lengths=levels[0])
    if len(levels) == 1:
        return rows
    return rows.with_values(_with_lengths(cls, rows._values, levels[1:]))


def _part(values: HostLike, start: int, stop: int) -> Any:
    if not isinstance(values, RaggedTensor):
        return values[start:stop]
    ends = values._splits[start : stop + 1]
    inner = _part(values._values, int(ends[0]), int(ends[-1]))
    return RaggedTensor(inner, ends - ends[0], values._uniform)


def _taken(values: HostLike, places: np.ndarray) -> Any:
    return values.take(places) if isinstance(values, RaggedTensor) else values[places]


def _item(value: HostLike, keys: list[Any]) -> Any:
    """Takes a part of a ragged tensor; each key is for a dimension, or None for a new one."""
    if not keys:
        return value
    if not isinstance(value, RaggedTensor):
        try:
            return value[tuple(_plain(one) for one in keys)]
        except IndexError as error:
            raise ValueError(f"slice {error}") from None
    key, *rest = keys
    if key is None:
        inner = _item(value, rest)
        return RaggedTensor(inner, np.array([0, _count(inner)]), None)
    if not isinstance(key, slice):
        return _item(value.row(_plain(key)), rest)
    count = value.row_count
    picked = value
    if key != slice(None):
        picked = value.take(np.arange(count)[slice(*map(_plain, (key.start, key.stop, key.step)))])
    return _in_rows(picked, rest) if rest else picked


def _in_rows(value: HostLike, keys: list[Any]) -> Any:
    """Takes the same part of each row."""
    key, *rest = keys
    if key is None:
        inner = _in_rows(value, rest) if rest else value
        count = _count(inner)
        return RaggedTensor(inner, np.arange(count + 1, dtype=np.int64), 1)
    if not isinstance(key, slice):
        if value._uniform is None:
            raise ValueError(
                "Cannot index into an inner ragged dimension: rows may be too short.\nFix: a slice, such as x[:, :1]"
            )
        number = _plain(key)
        if not -value._uniform <= number < value._uniform:
            raise IndexError(
                f"Index {number} is out of bounds: rows have {value._uniform} entries."
            )
        picked = _taken(value._values, value._splits[:-1] + number % value._uniform)
        return _entries(picked, rest)
    start, stop, step = map(_plain, (key.start, key.stop, key.step))
    found, lengths = [], []
    for begin, length in zip(value._splits[:-1].tolist(), value.lengths.tolist(), strict=True):
        places = np.arange(begin, begin + length)[start:stop:step]
        found.append(places)
        lengths.append(len(places))
    places = np.concatenate([np.empty(0, np.int64), *found])
    inner = _entries(_taken(value._values, places), rest)
    uniform = len(range(value._uniform)[start:stop:step]) if value._uniform is not None else None
    return RaggedTensor(inner, partitions.splits_of(np.array(lengths, np.int64)), uniform)


def _entries(values: HostLike, keys: list[Any]) -> Any:
    """Takes the same part of each entry of the values."""
    if not keys:
        return values
    if isinstance(values, RaggedTensor):
        return _in_rows(values, keys)
    return values[(slice(None), *(_plain(one) for one in keys))]


def _plain(key: HostLike) -> Any:
    if key is None or key is Ellipsis:
        return key
    if isinstance(key, slice):
        return slice(*map(_plain, (key.start, key.stop, key.step)))
    return operator.index(np.asarray(key)[()])


def _merged(value: HostLike, first: int, last: int) -> Any:
    """Makes one dimension of those from the first to the last one."""
    if first == last:
        return value
    if not isinstance(value, RaggedTensor):
        shape = np.shape(value)
        return value.reshape(*shape[:first], -1, *shape[last + 1 :])
    if first == 0:
        return _merged(value._values, 0, last - 1)
    if first > 1:
        return RaggedTensor(
            _merged(value._values, first - 1, last - 1), value._splits, value._uniform
        )
    return _flattened(value, last)


def _flattened(value: RaggedTensor, last: int) -> RaggedTensor:
    """Makes one dimension of those from 1 to the last one."""
    inner = value._values
    for _ in range(last - 1):
        if isinstance(inner, RaggedTensor):
            value = RaggedTensor(inner._values, inner._splits[value._splits])
        else:
            size = inner.shape[1]
            value = RaggedTensor(inner.reshape(-1, *inner.shape[2:]), value._splits * size)
        inner = value._values
    return value
