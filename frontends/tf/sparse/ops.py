"""Functions of sparse tensors, on the host."""

from typing import Any

import numpy as np

from frontends.tf._typing import HostLike, TensorLike
from frontends.tf.data.host_arrays import host_array
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.sparse.sparse_tensor import SparseTensor, dense


def to_dense(
    sp_input: Any,
    default_value: TensorLike = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Any:
    """Makes an array of a sparse tensor.

    Args:
        sp_input: the sparse tensor.
        default_value: what stands where it has no value; None means zero, or the empty text.
        validate_indices: whether indices out of order, or twice, are an error.

    Returns:
        An array in host memory; of JAX's sparse arrays, which layers of Keras give, one on the device.

    Raises:
        TypeError: `sp_input` is no sparse tensor.
        ValueError: indices are out of bounds, out of order or come twice.

    Source: `tf.sparse.to_dense`.
    """
    if hasattr(sp_input, "todense"):
        return sp_input.todense()
    sparse = checked(sp_input, "to_dense")
    indices, shape = np.asarray(sparse.indices), np.asarray(sparse.dense_shape)
    outside = ((indices < 0) | (indices >= shape)).any(axis=1)
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        raise ValueError(
            f"to_dense: indices[{row}] = {indices[row].tolist()} is out of bounds: the shape is {shape.tolist()}."
        )
    if validate_indices:
        _check_order(indices, shape)
    return as_tensors(dense(sparse, default_value)[()])


def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """Makes a sparse tensor of the entries of an array that are not zero, or not the empty text.

    Source: `tf.sparse.from_dense`.
    """
    array = host_array(tensor, "tf.sparse.from_dense")
    kept = array.astype(bool) if array.dtype.kind in "OSU" else array != 0
    return SparseTensor(np.argwhere(kept), array[kept], array.shape)


def reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Puts the entries in order, the last index fastest.

    Raises:
        TypeError: `sp_input` is no sparse tensor.

    Source: `tf.sparse.reorder`.
    """
    sparse = checked(sp_input, "reorder")
    indices = np.asarray(sparse.indices)
    order = np.lexsort(indices.T[::-1])
    return SparseTensor(indices[order], np.asarray(sparse.values)[order], sparse.dense_shape)


def checked(value: HostLike, op_name: str) -> SparseTensor:
    """Returns a sparse tensor as it is.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(value, SparseTensor):
        return value
    raise TypeError(
        f"{op_name}: expected a tf.SparseTensor, got {type(value).__name__}.\n"
        "Fix: leave it out for what is dense already, such as a FixedLenFeature."
    )


def _check_order(indices: np.ndarray, shape: np.ndarray) -> None:
    steps = np.diff(np.ravel_multi_index(tuple(indices.T), tuple(shape.tolist())))
    wrong = np.flatnonzero(steps <= 0)
    if len(wrong):
        row = int(wrong[0]) + 1
        kind = "is repeated" if steps[wrong[0]] == 0 else "is out of order"
        raise ValueError(
            f"to_dense: indices[{row}] = {indices[row].tolist()} {kind}. Many sparse ops require sorted indices.\n"
            "Fix: tf.sparse.reorder(sparse), or validate_indices=False"
        )
