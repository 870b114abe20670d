"""`tf.dtypes`: TensorFlow's names of dtypes, and of shapes.

A *dtype* is a `DType`: JAX and NumPy take it wherever they take one of theirs, and it equals theirs.
The dtype of an array, `x.dtype`, is NumPy's; `tf.as_dtype(x.dtype)` has TensorFlow's attributes.

64-bit dtypes become 32-bit ones, without a warning, unless JAX's `jax_enable_x64` is set: scripts
cast labels to `tf.int64` as a matter of course.
"""

import math
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._names import attributes
from frontends.tf._typing import DTypeLike, TensorLike


class DType:
    """A dtype, with TensorFlow's attributes.

    Examples:
        >>> import jax.numpy as jnp
        >>> from frontends import tf
        >>> jnp.zeros(2, tf.float32).dtype == tf.float32
        True
        >>> tf.as_dtype("bfloat16").is_floating
        True

    Source: `tf.DType`.
    """

    __slots__ = ("dtype",)

    def __init__(self, dtype: DTypeLike) -> None:
        """Wraps a dtype.

        Args:
            dtype: anything that `numpy.dtype` takes, `"bfloat16"` too.
        """
        self.dtype = np.dtype(dtype)

    @property
    def name(self) -> str:
        """Name of the dtype."""
        return "string" if self.dtype.kind in "OSU" else self.dtype.name

    @property
    def as_numpy_dtype(self) -> type:
        """NumPy's scalar class."""
        return self.dtype.type

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def is_floating(self) -> bool:
        """Whether it is a real floating-point dtype."""
        return jnp.issubdtype(self.dtype, jnp.floating)

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer dtype."""
        return jnp.issubdtype(self.dtype, jnp.integer)

    @property
    def is_bool(self) -> bool:
        """Whether it is the boolean dtype."""
        return self.dtype.kind == "b"

    @property
    def is_complex(self) -> bool:
        """Whether it is a complex dtype."""
        return self.dtype.kind == "c"

    @property
    def max(self) -> Any:
        """Largest finite value."""
        return _limit(self, "max")

    @property
    def min(self) -> Any:
        """Smallest finite value."""
        return _limit(self, "min")

    def __eq__(self, other: DTypeLike) -> bool:
        try:
            return self.dtype == np.dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __reduce__(self) -> Any:
        return DType, (self.dtype,)

    def __repr__(self) -> str:
        return f"tf.{self.name}"


def _limit(dtype: DType, name: str) -> Any:
    limits = (jnp.finfo if dtype.is_floating else jnp.iinfo)(dtype.dtype)
    scalar: Any = dtype.as_numpy_dtype
    return scalar(getattr(limits, name))


class TensorShape(tuple[int | None, ...]):
    """A shape; None is a dimension that is not known. An array's `x.shape` is a plain tuple.

    Examples:
        >>> from frontends import tf
        >>> tf.TensorShape([None, 28]).as_list()
        [None, 28]

    Source: `tf.TensorShape`.
    """

    __slots__ = ()

    def __new__(cls, dims: Iterable[int | None]) -> "TensorShape":
        """Makes a shape.

        Args:
            dims: sizes.
        """
        return super().__new__(cls, (None if size is None else int(size) for size in dims))

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self)

    ndims = rank

    def as_list(self) -> list[int | None]:
        """The sizes as a list."""
        return list(self)

    def is_fully_defined(self) -> bool:
        """Whether every dimension is known."""
        return None not in self

    def num_elements(self) -> int | None:
        """How many elements there are, or None if that is not known."""
        known = [size for size in self if size is not None]
        return math.prod(known) if len(known) == len(self) else None


def as_dtype(type_value: DTypeLike) -> DType:
    """Makes a dtype of a name, or of a dtype of NumPy or JAX."""
    if isinstance(type_value, str) and type_value == "string":
        return DType(str)
    # As in TensorFlow, Python's float is no double.
    return DType(np.float32 if type_value is float else type_value)


def jax_dtype(dtype: DTypeLike) -> np.dtype:
    """Gives the dtype that JAX holds numbers of `dtype` in."""
    return jax.dtypes.canonicalize_dtype(as_dtype(dtype).dtype)


# String is for specs and comparisons: JAX has no text arrays, and text stays in NumPy's.
DTYPES: dict[str, DType] = {
    name: DType(name)
    for name in (
        *("bool", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    )
} | {"string": DType(str), "half": DType("float16"), "double": DType("float64")}


def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> jax.Array:
    """Converts numbers; floating-point numbers lose their fraction, as in NumPy."""
    target = jax_dtype(dtype)
    if isinstance(x, int | list | tuple | np.ndarray | np.generic):
        host = np.asarray(x)
        # JAX would cut them to 32 bits first.
        if host.dtype.kind in "iu" and host.dtype.itemsize == 8:
            require_room(host, dtype)
            return jnp.asarray(host.astype(target))
    return jnp.asarray(x).astype(target)


def fits(integers: np.ndarray, dtype: np.dtype) -> bool:
    """Tells whether integers on the host lie in the range of a dtype of integers."""
    limits = np.iinfo(dtype)
    return bool(
        not integers.size or (integers.min() >= limits.min and integers.max() <= limits.max)
    )


def require_room(numbers: np.ndarray, dtype: DTypeLike) -> None:
    """Makes sure that no integer is cut because JAX holds a dtype of 64 bits in 32.

    Args:
        numbers: on the host.
        dtype: the one that they are to have.

    Raises:
        OverflowError: an integer would be cut.
    """
    held = jax_dtype(dtype)
    if as_dtype(dtype).dtype == held or {numbers.dtype.kind, held.kind} - set("iu"):
        return
    if not fits(numbers, held):
        raise OverflowError(
            f"The integers from {numbers.min()} to {numbers.max()} do not fit in {held}, and JAX's 64-bit "
            "types are off. Turn them on at the top of the script: "
            'jax.config.update("jax_enable_x64", True)'
        )


__getattr__, __dir__ = attributes(
    "tf.dtypes", {"DType": DType, "as_dtype": as_dtype, "cast": cast, **DTYPES}
)
