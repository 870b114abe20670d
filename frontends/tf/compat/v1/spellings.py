"""Operations of TensorFlow 1 that TensorFlow 2 has with other parameters, or as a part of another operation."""

import contextlib
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf import debugging, math
from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import cast, jax_dtype
from frontends.tf.indexed_slices import IndexedSlices
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.indexing import gather
from frontends.tf.sparse import SparseTensor


def to_bfloat16(x: TensorLike, name: str | None = None) -> jax.Array:
    """Casts to `tf.bfloat16`, of the same shape.

    Source: `tf.compat.v1.to_bfloat16`.
    """
    return cast(x, jnp.bfloat16)


def to_complex64(x: TensorLike, name: str | None = None) -> jax.Array:
    """Casts to `tf.complex64`, of the same shape.

    Source: `tf.compat.v1.to_complex64`.
    """
    return cast(x, jnp.complex64)


def accumulate_n(
    inputs: Sequence[TensorLike],
    shape: ShapeLike = None,
    tensor_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> jax.Array:
    """Adds tensors of one shape; see `tf.add_n`.

    Args:
        inputs: one or more.
        shape: accepted; not used.
        tensor_dtype: likewise, their dtype.

    Raises:
        ValueError: there is none, or they differ from each other.
        TypeError: they have another dtype than is said.

    Source: `tf.compat.v1.accumulate_n`.
    """
    arrays = [convert_to_tensor(one) for one in inputs or ()]
    kinds = dict.fromkeys((one.shape, one.dtype) for one in arrays)
    if len(kinds) != 1:
        found = ", ".join(f"{dtype}{list(sizes)}" for sizes, dtype in kinds)
        raise ValueError(
            "accumulate_n: inputs must be a list of at least one Tensor with the same dtype and shape, "
            f"got {found or 'none'}. Write tf.cast or tf.broadcast_to."
        )
    if tensor_dtype is not None and jax_dtype(tensor_dtype) != arrays[0].dtype:
        raise TypeError(
            f"accumulate_n: tensor_dtype is {tensor_dtype}, but the inputs have {arrays[0].dtype}. Leave tensor_dtype out."
        )
    return math.add_n(arrays)


def batch_gather(params: TensorLike, indices: TensorLike, name: str | None = None) -> jax.Array:
    """Takes rows of each part of a batch; `tf.gather` with all axes of `indices` but the last as `batch_dims`.

    Args:
        params: of shape (batch..., rows, ...).
        indices: integers of shape (batch..., n).

    Returns:
        Shape (batch..., n, ...).

    Source: `tf.compat.v1.batch_gather`.
    """
    places = convert_to_tensor(indices)
    return gather(params, places, axis=places.ndim - 1, batch_dims=places.ndim - 1)


def clip_by_average_norm(
    t: TensorLike, clip_norm: TensorLike, name: str | None = None
) -> jax.Array:
    """Scales a tensor so that its norm, divided by the number of elements, is `clip_norm` at most.

    Args:
        t: of any shape.
        clip_norm: a number above 0.

    Source: `tf.compat.v1.clip_by_average_norm`.
    """
    value, limit = convert_to_tensor(t), convert_to_tensor(clip_norm)
    by_norm = jax.lax.rsqrt(jnp.sum(value * value)) * value.size
    return value * limit * jnp.minimum(by_norm, 1 / limit)


def verify_tensor_all_finite(
    t: TensorLike = None,
    msg: str | None = None,
    name: str | None = None,
    x: TensorLike = None,
    message: str | None = None,
) -> jax.Array:
    """Gives a tensor back if all its elements are finite; see `tf.debugging.check_numerics`.

    Args:
        t: of floats.
        msg: the beginning of the error's message.
        x: a later name of `t`.
        message: a later name of `msg`.

    Raises:
        InvalidArgumentError: an element is NaN or infinite.

    Source: `tf.compat.v1.verify_tensor_all_finite`.
    """
    return debugging.check_numerics(t if x is None else x, msg or message or "")


def convert_to_tensor_or_sparse_tensor(
    value: Any, dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """Makes a tensor of a value, unless it is a sparse tensor, or a `SparseTensorValue`, which becomes one.

    Args:
        value: what `tf.convert_to_tensor` takes, or a sparse tensor.
        dtype: of the result; None is that of the value.

    Raises:
        RuntimeError: a sparse tensor has another dtype.

    Source: `tf.compat.v1.convert_to_tensor_or_sparse_tensor`.
    """
    parts = {"indices", "values", "dense_shape"}
    if isinstance(value, SparseTensor) or parts <= set(getattr(value, "_fields", ())):
        sparse = SparseTensor.from_value(value)
        if dtype is not None and jax_dtype(dtype) != jax_dtype(sparse.dtype):
            raise RuntimeError(
                f"Sparse dtype mismatch. Expected {dtype}, got {sparse.dtype}. Write tf.cast(value, {dtype!r})."
            )
        return sparse
    return convert_to_tensor(value, dtype)


def convert_to_tensor_or_indexed_slices(
    value: Any, dtype: DTypeLike | None = None, name: str | None = None
) -> Any:
    """Makes a tensor of a value, unless it is `tf.IndexedSlices`.

    Args:
        value: what `tf.convert_to_tensor` takes, or slices.
        dtype: of the result; None is that of the value.

    Raises:
        ValueError: slices have another dtype.

    Source: `tf.compat.v1.convert_to_tensor_or_indexed_slices`.
    """
    if not isinstance(value, IndexedSlices):
        return convert_to_tensor(value, dtype)
    if dtype is not None and jax_dtype(dtype) != jax_dtype(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtype} for IndexedSlices of {value.dtype}. Leave dtype out."
        )
    return value


def colocate_with(
    op: object, ignore_existing: bool = False
) -> contextlib.AbstractContextManager[None]:
    """Changes nothing: XLA decides where a program's operations run.

    Args:
        op: accepted; not used.
        ignore_existing: accepted; not used.

    Source: `tf.compat.v1.colocate_with`.
    """
    return contextlib.nullcontext()


def no_regularizer(_: object) -> None:
    """Gives no penalty; in `tf.get_variable` it takes the place of a scope's regularizer.

    Source: `tf.compat.v1.no_regularizer`.
    """
