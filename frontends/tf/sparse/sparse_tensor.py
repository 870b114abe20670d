"""`tf.SparseTensor`: the entries of an array that are not zero, in host memory.

Programs have no sparse tensors. A map of the dataset makes them dense, with `tf.sparse.to_dense`.
"""

import itertools
from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.data.host_arrays import check_on_host, host_array
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.tensor_shape import TensorShape

_NOT_DENSE = (
    "A tf.SparseTensor is in host memory, and here an array is needed: steps and models get dense arrays.\n"
    "Fix: dataset.map(tf.sparse.to_dense)"
)


@final
class SparseTensor:
    """Values, and where they are in an array; `tf.io.parse_example` makes them.

    Args:
        indices: integers of shape `[entries, dimensions]`.
        values: of shape `[entries]`.
        dense_shape: the array's shape.

    Raises:
        ValueError: the shapes do not fit.

    Examples:
        >>> from frontends import tf
        >>> sparse = tf.SparseTensor(indices=[[0, 1], [1, 0]], values=[3, 4], dense_shape=[2, 3])
        >>> print(tf.sparse.to_dense(sparse))
        [[0 3 0]
         [4 0 0]]

    Source: `tf.SparseTensor`.
    """

    __slots__ = ("_dense_shape", "_indices", "_values")

    def __init__(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike) -> None:
        """Keeps them as arrays of NumPy."""
        check_on_host((indices, dense_shape), "SparseTensor")
        shape = np.asarray(dense_shape, np.int64)
        where = np.asarray(indices, np.int64)
        found = host_array(values, "SparseTensor: values").view(np.ndarray)
        if not where.size and where.ndim != 2:
            where = where.reshape(0, len(shape))
        if where.ndim != 2 or found.ndim != 1 or where.shape != (len(found), len(shape)):
            raise ValueError(
                f"SparseTensor: expected indices of shape [entries, dimensions], values of shape [entries] and a dense_shape "
                f"of shape [dimensions], got {where.shape}, {found.shape} and {shape.shape}.\n"
                "Fix: tf.SparseTensor(indices=[[row, column]], values=[value], dense_shape=[rows, columns])"
            )
        self._indices, self._values, self._dense_shape = where, found, shape

    @property
    def indices(self) -> Any:
        """Where the values are, int64 of shape `[entries, dimensions]`."""
        return as_tensors(self._indices)

    @property
    def values(self) -> Any:
        """The values, of shape `[entries]`; texts as objects."""
        return as_tensors(self._values)

    @property
    def dense_shape(self) -> Any:
        """The array's shape, int64."""
        return as_tensors(self._dense_shape)

    @property
    def shape(self) -> TensorShape:
        """The array's shape."""
        return TensorShape(self._dense_shape.tolist())

    @property
    def dtype(self) -> Any:
        """The values' dtype."""
        return as_tensors(self._values).dtype

    @property
    def ndim(self) -> int:
        """How many dimensions the array has."""
        return len(self._dense_shape)

    @property
    def row_count(self) -> int:
        """How many rows a batch has; see `spmd.input.pipeline.Stackable`."""
        return int(self._dense_shape[0])

    def get_shape(self) -> TensorShape:
        """Returns the array's shape."""
        return self.shape

    def with_values(self, new_values: TensorLike) -> "SparseTensor":
        """Returns a sparse tensor with other values in the same places."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def stacked(self, others: Sequence[Self]) -> Self:
        """Returns a batch of this sparse tensor and others; see `spmd.input.pipeline.Stackable`."""
        parts = [self, *others]
        shapes = np.stack([part._dense_shape for part in parts])
        numbers = np.repeat(np.arange(len(parts)), [len(part._values) for part in parts])
        indices = np.concatenate([part._indices for part in parts])
        return type(self)(
            np.concatenate([numbers[:, None], indices], axis=1),
            np.concatenate([part._values for part in parts]),
            [len(parts), *shapes.max(axis=0).tolist()],
        )

    def described(self) -> tuple[type, tuple[int | None, ...], np.dtype, int]:
        """Describes it for the spec of a dataset; see `spmd.input.pipeline.Stackable`."""
        return SparseTensor, tuple(self._dense_shape.tolist()), self._values.dtype, 0

    def rows(self) -> "list[SparseTensor]":
        """Returns the entries of a batch; see `spmd.input.pipeline.Stackable`."""
        order = np.argsort(self._indices[:, 0], kind="stable")
        indices, values = self._indices[order], self._values[order]
        ends = np.searchsorted(indices[:, 0], np.arange(self.row_count + 1)).tolist()
        return [
            SparseTensor(indices[start:end, 1:], values[start:end], self._dense_shape[1:])
            for start, end in itertools.pairwise(ends)
        ]

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> "SparseTensor":
        """Makes a sparse tensor of what has its parts, such as a `tf.compat.v1.SparseTensorValue`.

        Source: `tf.SparseTensor.from_value`.
        """
        return cls(
            sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape
        )

    def __mul__(self, other: TensorLike) -> "SparseTensor":
        return self._times(np.multiply, other)

    def __truediv__(self, other: TensorLike) -> "SparseTensor":
        return self._times(np.true_divide, other)

    def _times(self, function: Any, other: TensorLike) -> "SparseTensor":
        array = np.broadcast_to(host_array(other, "SparseTensor"), tuple(self._dense_shape))
        return self.with_values(function(self._values, array[tuple(self._indices.T)]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError(_NOT_DENSE)

    def __jax_array__(self) -> Any:
        raise TypeError(_NOT_DENSE)

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices.tolist()}, values={self._values}, "
            f"dense_shape={self._dense_shape.tolist()})"
        )


def dense(sparse: SparseTensor, default: Any = None) -> np.ndarray:
    """Returns the array that a sparse tensor stands for.

    Args:
        sparse: no index of it comes twice.
        default: the other entries; None means zero, or the empty text.
    """
    values = np.asarray(sparse.values)
    if default is None:
        default = b"" if values.dtype.kind in "OSU" else np.zeros((), values.dtype)[()]
    array = np.full(tuple(sparse._dense_shape), default, values.dtype)
    array[tuple(sparse._indices.T)] = values
    return array
