"""Functions about numbers by TensorFlow's names: of `tf.*`, `tf.math`, `tf.linalg` and `tf.nn`."""

import operator
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._names import defined_in
from frontends.tf.ops import (
    activations,
    array,
    bessel,
    bits,
    blocks,
    clip,
    convolutions,
    counting,
    ctc,
    decompositions,
    factors,
    linalg,
    math,
    nn,
    quotients,
    ranking,
    reversal,
    sampled_losses,
    segments,
    sliding,
    special,
    statistics,
)
from frontends.tf.ops.casting import cast
from frontends.tf.ops.convert import (
    activation,
    binary,
    now_if_known,
    picked,
    reduction,
    same_names,
    unary,
)
from frontends.tf.ops.creation import eye
from frontends.tf.ops.text_comparison import of_texts_too

# In tf.* and in tf.math. TensorFlow 1 had tf.log, too. `round` rounds half to even in both libraries.
COMMON: dict[str, Any] = {
    **same_names(unary, jnp, "ceil", "cos", "cosh", "exp", "floor", "log"),
    **same_names(unary, jnp, "negative", "round", "sign", "sin", "sinh", "square", "tan", "tanh"),
    **same_names(binary, jnp, "add", "greater", "greater_equal", "less", "less_equal"),
    **same_names(binary, jnp, "multiply", "subtract"),
    "logical_and": now_if_known(binary(jnp.logical_and)),
    "logical_not": now_if_known(unary(jnp.logical_not)),
    "logical_or": now_if_known(binary(jnp.logical_or)),
    **picked(math, "add_n", "atan2", "cumsum"),
    **picked(ranking, "argmax", "argmin"),
    **picked(special, "scalar_mul"),
    "equal": of_texts_too(binary(jnp.equal), operator.eq),
    "not_equal": of_texts_too(binary(jnp.not_equal), operator.ne),
    "abs": unary(math.abs_),
    "acosh": unary(jnp.arccosh),
    "asinh": unary(jnp.arcsinh),
    "atanh": unary(jnp.arctanh),
    "truediv": binary(jnp.true_divide),
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
    **picked(reversal, "reverse_sequence"),
    **defined_in(blocks.__name__),
    **picked(bits, "bitcast", "saturate_cast"),
    **picked(
        counting,
        *("histogram_fixed_width", "histogram_fixed_width_bins", "searchsorted", "unravel_index"),
    ),
    **picked(factors, "eig", "eigvals"),
    **picked(quotients, "truncatediv", "truncatemod"),
    "cast": cast,
    "guarantee_const": array.identity,
    "matrix_square_root": factors.sqrtm,
    "realdiv": binary(jnp.true_divide),
    "space_to_batch_nd": blocks.space_to_batch,
    "complex": special.complex_,
}


MATH: dict[str, Any] = COMMON | {
    **same_names(unary, jnp, "expm1", "log1p"),
    **same_names(binary, jnp, "logical_xor", "mod"),
    **picked(math, "count_nonzero", "cumprod", "divide_no_nan"),
    **defined_in(segments.__name__),
    **picked(ranking, "confusion_matrix", "in_top_k", "top_k"),
    **bessel.MATH,
    **picked(counting, "is_non_decreasing", "is_strictly_increasing"),
    **picked(nn, "log_softmax", "softmax"),
    **picked(quotients, "accumulate_n", "cumulative_logsumexp", "nextafter", "polyval"),
    **picked(quotients, "reciprocal_no_nan"),
    **picked(special, "angle", "bincount", "imag", "invert_permutation", "lbeta", "real", "rint"),
    "conj": unary(jnp.conj),
    "digamma": unary(jax.scipy.special.digamma),
    "erfc": unary(jax.scipy.special.erfc),
    "erfinv": unary(jax.scipy.special.erfinv),
    "igamma": binary(jax.scipy.special.gammainc),
    "igammac": binary(jax.scipy.special.gammaincc),
    "lgamma": unary(jax.scipy.special.gammaln),
    "softsign": activations.softsign,
    "xdivy": binary(lambda x, y: jnp.where(x == 0, 0, x / jnp.where(x == 0, 1, y))),
    "xlogy": binary(jax.scipy.special.xlogy),
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
    "zero_fraction": activations.zero_fraction,
    "reduce_euclidean_norm": reduction(math.euclidean_norm_),
    "reduce_std": reduction(math.std_),
    "reduce_variance": reduction(jnp.var),
    "rsqrt": unary(math.masked_gradient(jax.lax.rsqrt)),
    "softplus": activation(jax.nn.softplus),
    "squared_difference": binary(math.squared_difference_),
}


LINALG: dict[str, Any] = {
    "eye": eye,
    "cross": special.cross,
    **{
        name: one
        for name, one in defined_in(decompositions.__name__).items()
        if not isinstance(one, type)
    },
    **defined_in(linalg.__name__),
    **{
        name: one for name, one in defined_in(factors.__name__).items() if not isinstance(one, type)
    },
}


NN: dict[str, Any] = {
    **defined_in(nn.__name__),
    **defined_in(activations.__name__),
    **defined_in(convolutions.__name__),
    **defined_in(sliding.__name__),
    **picked(ctc, "collapse_repeated", "ctc_beam_search_decoder", "ctc_greedy_decoder", "ctc_loss"),
    **picked(
        statistics,
        *("batch_norm_with_global_normalization", "log_poisson_loss", "normalize_moments"),
        *("sufficient_statistics", "weighted_moments"),
    ),
    **picked(sampled_losses, "nce_loss", "sampled_softmax_loss"),
    "space_to_batch": blocks.space_to_batch,
    "lrn": activations.local_response_normalization,
    "log_sigmoid": unary(jax.nn.log_sigmoid),
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
