"""The functions of `tf.experimental.numpy`: `jax.numpy`'s, which take variables and lists here as well."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.dtypes import DTYPES, jax_dtype
from frontends.tf.ops.convert import convert_to_tensor, described, is_tensor

# By the same name in both.
_SAME = (
    *("abs", "absolute", "add", "all", "allclose", "amax", "amin", "angle", "any", "append"),
    *("arange", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh"),
    *("argmax", "argmin", "argsort", "around", "array", "array_equal", "asarray", "atleast_1d"),
    *("atleast_2d", "atleast_3d", "average", "bitwise_and", "bitwise_not", "bitwise_or"),
    *("bitwise_xor", "broadcast_arrays", "broadcast_to", "cbrt", "ceil", "clip", "compress"),
    *("concatenate", "conj", "conjugate", "copy", "cos", "cosh", "count_nonzero", "cross"),
    *("cumprod", "cumsum", "deg2rad", "diag", "diag_indices", "diagflat", "diagonal", "diff"),
    *("divide", "divmod", "dot", "dsplit", "dstack", "einsum", "empty", "empty_like", "equal"),
    *("exp", "exp2", "expand_dims", "expm1", "eye", "fabs", "flip", "fliplr", "flipud"),
    *("float_power", "floor", "floor_divide", "full", "full_like", "gcd", "geomspace", "greater"),
    *("greater_equal", "heaviside", "hsplit", "hstack", "hypot", "identity", "imag", "inner"),
    *("isclose", "iscomplex", "iscomplexobj", "isfinite", "isinf", "isnan", "isneginf"),
    *("isposinf", "isreal", "isrealobj", "isscalar", "ix_", "kron", "lcm", "less", "less_equal"),
    *("linspace", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "logical_and"),
    *("logical_not", "logical_or", "logical_xor", "logspace", "matmul", "max", "maximum"),
    *("mean", "meshgrid", "min", "minimum", "mod", "moveaxis", "multiply", "nanmean", "nanprod"),
    *("nansum", "ndim", "negative", "nextafter", "nonzero", "not_equal", "ones", "ones_like"),
    *("outer", "pad", "polyval", "positive", "power", "prod", "promote_types", "ptp", "rad2deg"),
    *("ravel", "real", "reciprocal", "remainder", "repeat", "reshape", "result_type", "roll"),
    *("rot90", "round", "select", "shape", "sign", "signbit", "sin", "sinc", "sinh", "size"),
    *("sort", "split", "sqrt", "square", "squeeze", "stack", "std", "subtract", "sum"),
    *("swapaxes", "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "trace"),
    *("transpose", "tri", "tril", "triu", "true_divide", "vander", "var", "vdot", "vsplit"),
    *("vstack", "where", "zeros", "zeros_like"),
)
_KEPT = frozenset({"isscalar", "promote_types", "result_type"})


def _taking_all(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes the function take variables; and lists, where JAX takes arrays alone."""

    def call(*args: Any, **kwargs: Any) -> Any:
        given, named = jax.tree.map(_array, (args, kwargs), is_leaf=is_tensor)
        try:
            return function(*given, **named)
        except TypeError:
            whole = [jnp.asarray(one) if isinstance(one, list) else one for one in given]
            return function(*whole, **named)

    return described(functools.update_wrapper(call, function), function)


def _array(value: Any) -> Any:
    return jnp.asarray(value) if hasattr(value, "__jax_array__") else value


def fix(x: TensorLike) -> jax.Array:
    """Rounds towards zero.

    Source: `tf.experimental.numpy.fix`.
    """
    return jnp.trunc(convert_to_tensor(x))


def flatten(a: TensorLike, order: str = "C") -> jax.Array:
    """Makes an array of one axis.

    Source: `tf.experimental.numpy.flatten`.
    """
    return jnp.ravel(convert_to_tensor(a), order)


def finfo(dtype: DTypeLike) -> Any:
    """Describes a dtype of floating-point numbers.

    Source: `tf.experimental.numpy.finfo`.
    """
    return jnp.finfo(jax_dtype(dtype))


def iinfo(int_type: DTypeLike) -> Any:
    """Describes a dtype of integers.

    Source: `tf.experimental.numpy.iinfo`.
    """
    return jnp.iinfo(jax_dtype(int_type))


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Has no effect: arrays behave as NumPy's already.

    Args:
        prefer_float32: accepted; JAX's setting `jax_enable_x64` decides it.
        dtype_conversion_mode: accepted; dtypes are promoted by JAX's rules.

    Source: `tf.experimental.numpy.experimental_enable_numpy_behavior`.
    """


FUNCTIONS: dict[str, Any] = {
    **{
        name: getattr(jnp, name) if name in _KEPT else _taking_all(getattr(jnp, name))
        for name in _SAME
    },
    "asanyarray": _taking_all(jnp.asarray),
    "ascontiguousarray": _taking_all(jnp.atleast_1d),
    "experimental_enable_numpy_behavior": experimental_enable_numpy_behavior,
    "finfo": finfo,
    "fix": fix,
    "flatten": flatten,
    "iinfo": iinfo,
    "issubdtype": jnp.issubdtype,
}

TYPES: dict[str, Any] = {
    **{
        name: DTYPES[name]
        for name in (
            *("complex64", "complex128", "float16", "float32", "float64", "int8", "int16"),
            *("int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        )
    },
    "bool_": DTYPES["bool"],
    "complex_": DTYPES["complex128"],
    "e": np.e,
    "float_": DTYPES["float64"],
    "inexact": np.inexact,
    "inf": np.inf,
    "int_": DTYPES["int64"],
    "ndarray": jax.Array,
    "newaxis": None,
    "object_": np.object_,
    "pi": np.pi,
    "string_": np.bytes_,
    "unicode_": np.str_,
}
