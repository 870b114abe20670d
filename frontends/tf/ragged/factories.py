"""How ragged tensors are made: the class methods `from_...`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frontends.tf._typing import DTypeLike, HostLike, TensorLike
from frontends.tf.data.host_arrays import host_array, integers
from frontends.tf.ragged import partitions
from frontends.tf.ragged.operators import count_of, is_ragged
from frontends.tf.sparse.sparse_tensor import SparseTensor


class Factories:
    """What a ragged tensor consists of, and the class methods that make one."""

    __slots__ = ("_splits", "_uniform", "_values")

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

    @classmethod
    def from_row_splits(
        cls,
        values: HostLike,
        row_splits: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Makes rows of values, by where rows begin and the last one ends.

        Args:
            values: an array or a ragged tensor.
            row_splits: integers, from 0 to the number of values.
            validate: whether to check them.

        Raises:
            ValueError: the splits do not fit the values.

        Source: `tf.RaggedTensor.from_row_splits`.
        """
        found, splits = values_of(values), _vector(row_splits, "row_splits")
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
            if splits[-1] != count_of(found):
                raise ValueError(
                    f"Arguments to from_row_splits do not form a valid RaggedTensor: the last of row_splits is {splits[-1]}, and there are "
                    f"{count_of(found)} values."
                )
        return cls(found, splits)

    @classmethod
    def from_row_lengths(
        cls,
        values: HostLike,
        row_lengths: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
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
    ) -> Any:
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
        found, rows = values_of(values), _vector(value_rowids, "value_rowids")
        count = _row_count(nrows, int(rows[-1]) + 1 if len(rows) else 0)
        if len(rows) != count_of(found):
            raise ValueError(
                f"Arguments to from_value_rowids do not form a valid RaggedTensor: {len(rows)} row ids, and {count_of(found)} values."
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
    ) -> Any:
        """Makes rows of values, by where each begins.

        Raises:
            ValueError: the starts do not ascend from 0 to the number of values.

        Source: `tf.RaggedTensor.from_row_starts`.
        """
        found = values_of(values)
        splits = np.append(_vector(row_starts, "row_starts"), count_of(found))
        return cls.from_row_splits(found, splits, validate=validate)

    @classmethod
    def from_row_limits(
        cls,
        values: HostLike,
        row_limits: TensorLike,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
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
    ) -> Any:
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
        found, length = values_of(values), int(integers(uniform_row_length, "uniform_row_length"))
        count = _row_count(nrows, count_of(found) // length if length > 0 else 0)
        if length < 0 or (validate and length * count != count_of(found)):
            raise ValueError(
                f"Arguments to from_uniform_row_length do not form a valid RaggedTensor: {count_of(found)} values are not {count} rows of {length}."
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
    ) -> Any:
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
    ) -> Any:
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


def _nested(make: Callable[..., Any], flat: Any, levels: Any, validate: bool) -> Any:
    if not isinstance(levels, list | tuple):
        raise TypeError(
            f"Expected a list with one array for each level, got {type(levels).__name__}."
        )
    made = flat
    for level in reversed(levels):
        made = make(made, level, validate=validate)
    return made


def _with_lengths(cls: Any, array: np.ndarray, levels: Sequence[np.ndarray]) -> Any:
    """Cuts a dense array to the lengths in each level."""
    rows: Any = cls.from_tensor(array, lengths=levels[0])
    if len(levels) == 1:
        return rows
    return rows.with_values(_with_lengths(cls, rows._values, levels[1:]))


def values_of(values: HostLike) -> Any:
    """Checks the values of rows: a ragged tensor, or an array that has an axis.

    Raises:
        ValueError: it is a scalar.
    """
    if is_ragged(values):
        return values
    array = host_array(values, "RaggedTensor: values")
    if not array.ndim:
        raise ValueError("RaggedTensor: values must have one axis at least, got a scalar.")
    return array.view(np.ndarray)
