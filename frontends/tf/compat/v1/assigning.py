"""`tf.compat.v1.assign` and its like: the methods of variables as functions."""

from typing import Any

from frontends.tf._typing import TensorLike, VariableLike


def assign(
    ref: VariableLike,
    value: TensorLike,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Replaces the value of a variable; in a model function once the result is fetched.

    Args:
        ref: a `tf.Variable`.
        value: of its shape.

    Returns:
        See `tf.Variable.assign`.

    Source: `tf.compat.v1.assign`.
    """
    return ref.assign(value)


def assign_add(
    ref: VariableLike, value: TensorLike, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Adds to the value of a variable; see `assign`.

    Source: `tf.compat.v1.assign_add`.
    """
    return ref.assign_add(value)


def assign_sub(
    ref: VariableLike, value: TensorLike, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Subtracts from the value of a variable; see `assign`.

    Source: `tf.compat.v1.assign_sub`.
    """
    return ref.assign_sub(value)
