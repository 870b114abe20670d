"""Functions about numbers by TensorFlow's names: of `tf.*`, `tf.math`, `tf.linalg` and `tf.nn`."""

from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._names import defined_in
from frontends.tf.ops import clip, linalg, math, nn, ranking, segments
from frontends.tf.ops.casting import cast
from frontends.tf.ops.convert import activation, binary, picked, reduction, same_names, unary
from frontends.tf.ops.creation import eye

# In tf.* and in tf.math. TensorFlow 1 had tf.log, too. `round` rounds half to even in both libraries.
COMMON: dict[str, Any] = {
    **same_names(unary, jnp, "ceil", "cos", "cosh", "exp", "floor", "log", "logical_not"),
    **same_names(unary, jnp, "negative", "round", "sign", "sin", "sinh", "square", "tan", "tanh"),
    **same_names(binary, jnp, "add", "equal", "greater", "greater_equal", "less", "less_equal"),
    **same_names(binary, jnp, "logical_and", "logical_or", "multiply", "not_equal", "subtract"),
    **picked(math, "add_n", "atan2", "cumsum"),
    **picked(ranking, "argmax", "argmin"),
    "abs": unary(math.abs_),
    "acos": unary(jnp.arccos),
    "asin": unary(jnp.arcsin),
    "atan": unary(jnp.arctan),
    "divide": binary(jnp.true_divide),
    "maximum": binary(math.maximum_),
    "minimum": binary(math.minimum_),
    "pow": binary(jnp.power),
    "reduce_all": reduction(jnp.all, of_bools=True),
    "reduce_any": reduction(jnp.any, of_bools=True),
    "reduce_logsumexp": reduction(jax.nn.logsumexp),
    "reduce_max": reduction(math.max_),
    "reduce_mean": reduction(math.mean_),
    "reduce_min": reduction(math.min_),
    "reduce_prod": reduction(math.prod_),
    "reduce_sum": reduction(math.sum_),
    "sigmoid": unary(jax.nn.sigmoid),
    "sqrt": unary(math.sqrt_),
}


TF: dict[str, Any] = COMMON | {
    **defined_in(clip.__name__),
    **picked(linalg, "einsum", "matmul", "norm", "tensordot"),
    **picked(ranking, "argsort", "sort"),
    "cast": cast,
}


MATH: dict[str, Any] = COMMON | {
    **same_names(unary, jnp, "expm1", "log1p"),
    **same_names(binary, jnp, "logical_xor", "mod"),
    **picked(math, "count_nonzero", "cumprod", "divide_no_nan"),
    **defined_in(segments.__name__),
    **picked(ranking, "confusion_matrix", "in_top_k", "top_k"),
    "erf": unary(jax.scipy.special.erf),
    "floordiv": binary(jnp.floor_divide),
    "floormod": binary(jnp.mod),
    "is_finite": unary(jnp.isfinite),
    "is_inf": unary(jnp.isinf),
    "is_nan": unary(jnp.isnan),
    "l2_normalize": linalg.l2_normalize,
    "log_sigmoid": unary(jax.nn.log_sigmoid),
    "multiply_no_nan": binary(lambda x, y: jnp.where(jnp.equal(y, 0), 0, jnp.multiply(x, y))),
    "reciprocal": unary(math.masked_gradient(jnp.reciprocal)),
    "reduce_euclidean_norm": reduction(math.euclidean_norm_),
    "reduce_std": reduction(math.std_),
    "reduce_variance": reduction(jnp.var),
    "rsqrt": unary(math.masked_gradient(jax.lax.rsqrt)),
    "softplus": activation(jax.nn.softplus),
    "squared_difference": binary(math.squared_difference_),
}


LINALG: dict[str, Any] = {"eye": eye, **defined_in(linalg.__name__)}


NN: dict[str, Any] = {
    **defined_in(nn.__name__),
    **same_names(activation, jax.nn, "elu", "relu", "relu6", "softplus"),
    "avg_pool": nn.avg_pool2d,
    "in_top_k": ranking.in_top_k,
    "l2_normalize": linalg.l2_normalize,
    "max_pool": nn.max_pool2d,
    "sigmoid": unary(jax.nn.sigmoid),
    "swish": nn.silu,
    "tanh": unary(jnp.tanh),
    "top_k": ranking.top_k,
}
