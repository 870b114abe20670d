"""Convolutions in loops and branches, with their operands in the order that XLA has fast code for.

The gradients of a convolution are convolutions whose operands have their axes in another order. XLA gives these to a library
as they are, but not in the body of a loop or a branch, where its own code takes 5 to 140 times as long.
"""

import math
from collections.abc import Hashable

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from spmd.lowering.convolution import Convolution, convolve
from spmd.lowering.substitution import Substitution, described, in_place_of, tracks_devices

# XLA compiles the bodies of these apart from what is around them.
_SEPARATE = frozenset({"scan", "while", "cond"})

# Multiplications, in all and for each element of the result: XLA's own code for fewer is as good as copies.
_MIN_WORK, _MIN_TERMS = 2**16, 32


def with_plain_layouts(program: ClosedJaxpr) -> ClosedJaxpr:
    """Transposes the operands and results of convolutions in loops and branches.

    Small ones stay as they are.

    Args:
        program: a traced program.

    Returns:
        A program with the same inputs and outputs; the same object if there is no such convolution.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> from jax import lax
        >>> image, kernel = jnp.ones((1, 16, 8, 8)), jnp.ones((16, 16, 3, 3))  # features first
        >>> def turn(image, _):
        ...     return lax.conv(image, kernel, (1, 1), "SAME"), None
        >>> program = jax.make_jaxpr(lambda image: lax.scan(turn, image, length=4))(image)
        >>> (loop,) = with_plain_layouts(program).eqns
        >>> [one.params["name"] for one in loop.params["jaxpr"].eqns if "name" in one.params]
        ['plain_layout']
    """
    made: dict[Hashable, JaxprEqn] = {}

    def plain(jaxpr: Jaxpr, equation: JaxprEqn) -> JaxprEqn | None:
        del jaxpr
        if tracks_devices(equation):
            return equation
        if equation.primitive.name != "conv_general_dilated":
            return None
        conv = Convolution.of(equation)
        is_small = conv.work < _MIN_WORK or math.prod(conv.rhs_shape[:-1]) < _MIN_TERMS
        if conv.is_plain or is_small:
            return None
        operands = described(equation.invars)
        key = (conv, *operands)
        if key not in made:

            def plain_layout(lhs: jax.Array, rhs: jax.Array) -> jax.Array:
                groups = conv.feature_groups, conv.batch_groups
                return conv.result(
                    convolve(conv, conv.lhs(lhs), conv.rhs(rhs), conv.dtype, *groups)
                )

            (made[key],) = jax.make_jaxpr(jax.jit(plain_layout))(*operands).eqns
        return in_place_of(equation, made[key])

    bodies = Substitution(plain)

    def opened(jaxpr: Jaxpr, equation: JaxprEqn) -> JaxprEqn | None:
        del jaxpr
        if tracks_devices(equation):
            return equation
        return bodies.opened(equation) if equation.primitive.name in _SEPARATE else None

    jaxpr = Substitution(opened).jaxpr(program.jaxpr)
    return program if jaxpr is program.jaxpr else program.replace(jaxpr=jaxpr)
