"""Special functions of `tf.math` and `tf.math.special`: Bessel's, incomplete beta, zeta and their kin."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special

from frontends.tf._typing import TensorLike
from frontends.tf.ops.convert import binary, convert_to_tensor, named, unary


def erfcinv(x: TensorLike, name: str | None = None) -> jax.Array:
    """Inverts `erfc`.

    Source: `tf.math.erfcinv`.
    """
    return -special.ndtri(0.5 * convert_to_tensor(x)) * 0.5**0.5


def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> jax.Array:
    """Regularized incomplete beta function.

    Source: `tf.math.betainc`.
    """
    return special.betainc(*map(convert_to_tensor, (a, b, x)))


def fresnel_cos(x: TensorLike, name: str | None = None) -> jax.Array:
    """Fresnel's integral of the cosine.

    Source: `tf.math.special.fresnel_cos`.
    """
    return special.fresnel(convert_to_tensor(x))[1]


def fresnel_sin(x: TensorLike, name: str | None = None) -> jax.Array:
    """Fresnel's integral of the sine.

    Source: `tf.math.special.fresnel_sin`.
    """
    return special.fresnel(convert_to_tensor(x))[0]


MODIFIED: dict[str, Any] = {
    "bessel_i0": unary(special.i0),
    "bessel_i0e": unary(special.i0e),
    "bessel_i1": unary(special.i1),
    "bessel_i1e": unary(special.i1e),
}
SPECIAL: dict[str, Any] = MODIFIED | {
    "dawsn": unary(special.dawsn),
    "expint": unary(special.expi),
    "fresnel_cos": fresnel_cos,
    "fresnel_sin": fresnel_sin,
    "spence": unary(special.spence),
}
MATH: dict[str, Any] = MODIFIED | {
    "betainc": betainc,
    "erfcinv": erfcinv,
    "ndtri": unary(special.ndtri),
    "polygamma": named(
        "polygamma",
        "Derivative of `digamma`, of the order `a`.",
        lambda a, x, name=None: special.polygamma(
            jnp.asarray(convert_to_tensor(a), jnp.int32), convert_to_tensor(x)
        ),
    ),
    "xlog1py": binary(special.xlog1py),
    "zeta": binary(special.zeta),
}
