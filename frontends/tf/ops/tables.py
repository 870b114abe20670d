"""Functions about numbers by TensorFlow's names: of `tf.*`, `tf.math` and `tf.linalg`."""

from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf.dtypes import cast
from frontends.tf.ops.clip import clip_by_global_norm, clip_by_norm, clip_by_value, global_norm
from frontends.tf.ops.convert import (
    activation,
    binary,
    reduction,
    unary,
)
from frontends.tf.ops.linalg import (
    det,
    diag,
    diag_part,
    einsum,
    inv,
    l2_normalize,
    matmul,
    norm,
    tensordot,
    trace_,
)
from frontends.tf.ops.math import (
    abs_,
    add_n,
    atan2,
    cumprod,
    cumsum,
    divide_no_nan,
    euclidean_norm_,
    masked_gradient,
    maximum_,
    mean_,
    minimum_,
    prod_,
    sqrt_,
    squared_difference_,
    std_,
    sum_,
)
from frontends.tf.ops.ranking import (
    argmax,
    argmin,
    argsort,
    confusion_matrix,
    in_top_k,
    sort,
    top_k,
)

# In tf.* and in tf.math.
COMMON: dict[str, Any] = {
    "abs": unary(abs_),
    "acos": unary(jnp.arccos),
    "add": binary(jnp.add),
    "add_n": add_n,
    "argmax": argmax,
    "argmin": argmin,
    "asin": unary(jnp.arcsin),
    "atan": unary(jnp.arctan),
    "atan2": atan2,
    "ceil": unary(jnp.ceil),
    "cos": unary(jnp.cos),
    "cosh": unary(jnp.cosh),
    "cumsum": cumsum,
    "divide": binary(jnp.true_divide),
    "equal": binary(jnp.equal),
    "exp": unary(jnp.exp),
    "floor": unary(jnp.floor),
    "greater": binary(jnp.greater),
    "greater_equal": binary(jnp.greater_equal),
    "less": binary(jnp.less),
    "less_equal": binary(jnp.less_equal),
    "log": unary(jnp.log),  # TensorFlow 1 had tf.log, too
    "logical_and": binary(jnp.logical_and),
    "logical_not": unary(jnp.logical_not),
    "logical_or": binary(jnp.logical_or),
    "maximum": binary(maximum_),
    "minimum": binary(minimum_),
    "multiply": binary(jnp.multiply),
    "negative": unary(jnp.negative),
    "not_equal": binary(jnp.not_equal),
    "pow": binary(jnp.power),
    "reduce_all": reduction(jnp.all, of_bools=True),
    "reduce_any": reduction(jnp.any, of_bools=True),
    "reduce_logsumexp": reduction(jax.nn.logsumexp),
    "reduce_max": reduction(jnp.max),
    "reduce_mean": reduction(mean_),
    "reduce_min": reduction(jnp.min),
    "reduce_prod": reduction(prod_),
    "reduce_sum": reduction(sum_),
    "round": unary(jnp.round),  # half to even, both
    "sigmoid": unary(jax.nn.sigmoid),
    "sign": unary(jnp.sign),
    "sin": unary(jnp.sin),
    "sinh": unary(jnp.sinh),
    "sqrt": unary(sqrt_),
    "square": unary(jnp.square),
    "subtract": binary(jnp.subtract),
    "tan": unary(jnp.tan),
    "tanh": unary(jnp.tanh),
}


TF: dict[str, Any] = COMMON | {
    "argsort": argsort,
    "cast": cast,
    "clip_by_global_norm": clip_by_global_norm,
    "clip_by_norm": clip_by_norm,
    "clip_by_value": clip_by_value,
    "einsum": einsum,
    "matmul": matmul,
    "norm": norm,
    "sort": sort,
    "tensordot": tensordot,
}


MATH: dict[str, Any] = COMMON | {
    "confusion_matrix": confusion_matrix,
    "cumprod": cumprod,
    "divide_no_nan": divide_no_nan,
    "erf": unary(jax.scipy.special.erf),
    "expm1": unary(jnp.expm1),
    "floordiv": binary(jnp.floor_divide),
    "floormod": binary(jnp.mod),
    "in_top_k": in_top_k,
    "is_finite": unary(jnp.isfinite),
    "is_inf": unary(jnp.isinf),
    "is_nan": unary(jnp.isnan),
    "l2_normalize": l2_normalize,
    "log1p": unary(jnp.log1p),
    "log_sigmoid": unary(jax.nn.log_sigmoid),
    "logical_xor": binary(jnp.logical_xor),
    "mod": binary(jnp.mod),
    "multiply_no_nan": binary(lambda x, y: jnp.where(jnp.equal(y, 0), 0, jnp.multiply(x, y))),
    "reciprocal": unary(masked_gradient(jnp.reciprocal)),
    "reduce_euclidean_norm": reduction(euclidean_norm_),
    "reduce_std": reduction(std_),
    "reduce_variance": reduction(jnp.var),
    "rsqrt": unary(masked_gradient(jax.lax.rsqrt)),
    "softplus": activation(jax.nn.softplus),
    "squared_difference": binary(squared_difference_),
    "top_k": top_k,
}


LINALG: dict[str, Any] = {
    "det": det,
    "diag": diag,
    "diag_part": diag_part,
    "einsum": einsum,
    "global_norm": global_norm,
    "inv": inv,
    "l2_normalize": l2_normalize,
    "matmul": matmul,
    "norm": norm,
    "tensordot": tensordot,
    "trace": unary(trace_),
}
