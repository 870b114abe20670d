"""`tf.dtypes`: TensorFlow's names of dtypes.

A *dtype* is a `DType`: JAX and NumPy take it wherever they take one of theirs, and it equals theirs.
The user's code sees one in `x.dtype` of an array; libraries see NumPy's (`_array_methods.py`).

64-bit dtypes become 32-bit ones, without a warning, unless JAX's `jax_enable_x64` is set: scripts
cast labels to `tf.int64` as a matter of course.
"""

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

    __slots__ = ("_is_floating", "_is_integer", "_limits", "_name", "dtype")

    def __init__(self, dtype: DTypeLike) -> None:
        """Wraps a dtype.

        Args:
            dtype: anything that `numpy.dtype` takes, `"bfloat16"` too.
        """
        self.dtype = np.dtype(dtype)
        # NumPy makes the name anew each time.
        self._name = "string" if self.dtype.kind in "OSU" else self.dtype.name
        # JAX takes longer to tell than small functions of images take.
        self._is_floating = bool(jnp.issubdtype(self.dtype, jnp.floating))
        self._is_integer = bool(jnp.issubdtype(self.dtype, jnp.integer))
        self._limits: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """Name of the dtype."""
        return self._name

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
        return self._is_floating

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer dtype."""
        return self._is_integer

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
        return _limit(self, self._limits, "max")

    @property
    def min(self) -> Any:
        """Smallest finite value."""
        return _limit(self, self._limits, "min")

    @property
    def is_unsigned(self) -> bool:
        """Whether it is an integer dtype without negative numbers."""
        return self.dtype.kind == "u"

    @property
    def is_quantized(self) -> bool:
        """Whether it is one of TensorFlow's quantized dtypes: never."""
        return False

    @property
    def is_numeric(self) -> bool:
        """Whether it is a dtype of numbers."""
        return self.is_floating or self.is_integer or self.is_complex

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether NumPy has it: always."""
        return True

    @property
    def base_dtype(self) -> "DType":
        """The dtype itself: there are no references."""
        return self

    @property
    def real_dtype(self) -> "DType":
        """The dtype of the real part."""
        return as_dtype(self.dtype.type().real.dtype) if self.is_complex else self

    def is_compatible_with(self, other: DTypeLike) -> bool:
        """Tells whether it is the other dtype."""
        return self == as_dtype(other)

    def __getattr__(self, name: str) -> Any:
        # An array's dtype was NumPy's, and code that is written for JAX asks it for these.
        if name in _NUMPY_ATTRIBUTES:
            return getattr(self.dtype, name)
        raise AttributeError(f"{self!r} has no attribute {name!r}.")

    def __eq__(self, other: DTypeLike) -> bool:
        if self is other:
            return True
        if other is None:  # to NumPy it is float64
            return False
        try:
            return self.dtype == np.dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __reduce__(self) -> Any:
        return as_dtype, (self.dtype,)

    def __str__(self) -> str:
        # As NumPy's, which code that is written for JAX compares with names: TensorFlow's is <dtype: 'float32'>.
        return self.name

    def __repr__(self) -> str:
        return f"tf.{self.name}"


# Without `shape` and `ndim`, which dtypes of NumPy have as well: to JAX it would be an array.
_NUMPY_ATTRIBUTES = frozenset(
    {"alignment", "byteorder", "char", "itemsize", "kind", "newbyteorder", "num", "str", "type"}
)


def _limit(dtype: DType, limits: dict[str, Any], name: str) -> Any:
    if name in limits:
        return limits[name]
    if not (dtype.is_floating or dtype.is_integer):
        raise TypeError(
            f"tf.{dtype.name} has no {name}: expected a dtype of integers or of floating-point numbers."
        )
    found = (jnp.finfo if dtype.is_floating else jnp.iinfo)(dtype.dtype)
    scalar: Any = dtype.as_numpy_dtype
    return limits.setdefault(name, scalar(getattr(found, name)))


def as_dtype(type_value: DTypeLike) -> DType:
    """Makes a dtype of a name, a dtype of NumPy or JAX, or TensorFlow's number of it; a known one is always the same object."""
    if isinstance(type_value, DType):
        return type_value
    number: Any = type_value
    if type(number) is int and number in _NUMBERS:  # as in tf.zeros(1, 1)
        return DTYPES[_NUMBERS[number]]
    if isinstance(type_value, str) and type_value == "string":
        return DTYPES["string"]
    # As in TensorFlow, Python's float is no double.
    single = type_value is float or (isinstance(type_value, str) and type_value == "float")
    dtype = np.dtype(np.float32 if single else type_value)
    return BY_NUMPY.get(dtype) or _OBJECTS.get(dtype) or DType(dtype)


# The numbers that TensorFlow stores dtypes as.
_NUMBERS: dict[Any, str] = {
    **{1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string"},
    **{8: "complex64", 9: "int64", 10: "bool", 14: "bfloat16", 17: "uint16", 18: "complex128"},
    **{19: "float16", 22: "uint32", 23: "uint64"},
}


def jax_dtype(dtype: DTypeLike) -> np.dtype:
    """Gives the dtype that JAX holds numbers of `dtype` in."""
    found = as_dtype(dtype).dtype
    if found.itemsize < 8 and found.kind in "biuf":  # asking JAX takes longer
        return found
    return jax.dtypes.canonicalize_dtype(found)


# String is for specs and comparisons: JAX has no text arrays, and text stays in NumPy's.
DTYPES: dict[str, DType] = {
    name: DType(name)
    for name in (
        *("bool", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    )
} | {"string": DType(str)}
# By NumPy's dtype.
BY_NUMPY: dict[np.dtype, DType] = {dtype.dtype: dtype for dtype in DTYPES.values()}
# Texts of a dataset are objects.
_OBJECTS = {np.dtype(object): DType(object)}
DTYPES |= {"half": DTYPES["float16"], "double": DTYPES["float64"]}


def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> jax.Array:
    """Converts numbers; floating-point numbers lose their fraction, as in NumPy."""
    target = jax_dtype(dtype)
    if isinstance(x, int | list | tuple | np.ndarray | np.generic):
        host = np.asarray(x)
        if host.dtype == object:
            # Sizes that the caller of an exported program chooses, see tf.shape.
            return jnp.asarray(host.tolist()).astype(target)
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


def large_number(number: int, dtype: np.dtype) -> Any:
    """Gives an integer that JAX refuses, because it has more than 32 bits, the dtype of the array beside it.

    Raises:
        OverflowError: the array has integers of 32 bits.
    """
    if jnp.issubdtype(dtype, jnp.inexact):
        return float(number)
    if not fits(np.asarray(number), np.dtype("int32")):
        require_room(np.asarray(number), np.int64)
    return number


__getattr__, __dir__ = attributes(
    "tf.dtypes",
    {"DType": DType, "as_dtype": as_dtype, "cast": cast, **DTYPES},
    borrowed={
        "complex": "frontends.tf.ops.special:complex_",
        "saturate_cast": "frontends.tf.ops.bits",
    },
)
