"""What a variable holds on one replica, as `variable.values` lists it."""

from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import DTypeLike
from frontends.tf._user_view import as_dtype_seen, as_shape_seen, seen_by_users
from frontends.tf.tensor_shape import TensorShape
from spmd.replica import ArrayLike


class VariableComponent(ArrayLike):
    """One replica's value of a variable, with the name that TensorFlow gives the variable on that replica.

    It is a view: it has the methods of an array, and keeps the value of when it was asked for. A variable is assigned as
    a whole.

    Attributes:
        name: of the component.

    Examples:
        >>> from frontends import tf
        >>> with tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        ...     weight = tf.Variable(1.0, name="w")
        >>> [(one.name, float(one)) for one in weight.values]
        [('w:0', 1.0), ('w/replica_1:0', 1.0)]

    Source: `tf.distribute.DistributedValues.values`, of a variable.
    """

    __slots__ = ("_array", "name")

    def __init__(self, array: jax.Array, name: str) -> None:
        """Wraps a replica's value."""
        self._array = array
        self.name = name

    def value(self) -> jax.Array:
        """Returns the value."""
        return self._array

    read_value = value

    def numpy(self) -> Any:
        """Returns the value in host memory."""
        return np.array(self._array)[()]

    def __jax_array__(self) -> jax.Array:
        return self._array

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> np.ndarray:
        del copy
        return np.asarray(self._array, dtype)

    shape = seen_by_users(
        lambda self: self._array.shape, lambda self: as_shape_seen(self._array.shape), "Its shape."
    )
    dtype = seen_by_users(
        lambda self: self._array.dtype,
        lambda self: as_dtype_seen(self._array.dtype),
        "Type of its elements.",
    )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._array, name)

    def __getitem__(self, index: Any) -> Any:
        return self._array[index]

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Any:
        return iter(self._array)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return shown(self.name, self._array, as_shape_seen(self._array.shape))


def component_names(name: str, count: int) -> list[str]:
    """Names the components of a variable as TensorFlow does.

    Examples:
        >>> component_names("w:0", 2)
        ['w:0', 'w/replica_1:0']
    """
    return [
        f"{name.removesuffix(':0')}/replica_{index}:0" if index else name for index in range(count)
    ]


def shown(name: str | None, value: Any, shape: TensorShape) -> str:
    """Shows a variable, or a component of one, as TensorFlow does; a traced value only by shape and type."""
    about = f"<tf.Variable '{name}' shape={shape} dtype={value.dtype}"
    if isinstance(value, Tracer):
        return f"{about}>"
    array = np.asarray(value)
    return f"{about}, numpy={array.item() if array.ndim == 0 else array!r}>"
