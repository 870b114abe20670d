"""Gradients by kernels of dense layers over texts and series, computed without a transposed copy.

JAX computes the gradient of `x @ kernel` by the kernel as the product of the gradient above with `x`, and transposes the
result. Where both have axes for examples and for time, XLA moves the transposition to an operand: it copies the gradient above,
and multiplies with both operands transposed, its slowest way. The product of `x` with the gradient above is what is asked for,
and reads both as they lie in memory. XLA finds that by itself where examples are the only axis to sum over.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Var

from spmd._jax_internals import aval_of
from spmd.lowering.substitution import Atom, Substitution, described, in_place_of, tracks_devices

# Multiplications: a smaller product takes XLA microseconds in any form.
_MIN_WORK = 2**20


@dataclasses.dataclass(frozen=True)
class _Transposed:
    """The transposed product of two operands, each of which is a matrix if adjacent axes are taken for one.

    Attributes:
        shapes: of the matrices.
        summed: axis of each that is summed over.
        shape: of the result.
        options: of `jax.lax.dot_general`.
    """

    shapes: tuple[tuple[int, int], tuple[int, int]]
    summed: tuple[int, int]
    shape: tuple[int, ...]
    options: tuple[tuple[str, Any], ...]

    def direct_product(self, left: jax.Array, right: jax.Array) -> jax.Array:
        """Computes it; profiles show the name of this function."""
        matrices = right.reshape(self.shapes[1]), left.reshape(self.shapes[0])
        dimensions = (((self.summed[1],), (self.summed[0],)), ((), ()))
        product = jax.lax.dot_general(*matrices, dimensions, **dict(self.options))
        return product.reshape(self.shape)


def direct_products(program: ClosedJaxpr) -> ClosedJaxpr:
    """Exchanges the operands of large products over several axes whose transpose is all that is read.

    Looks into loops, branches and called functions as well. Results are XLA's but for the order of sums.

    Args:
        program: a traced program.

    Returns:
        A program with the same inputs and outputs; the same object if there is no such product.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> x, kernel = jnp.ones((8, 128, 64)), jnp.ones((64, 32))
        >>> gradient = jax.grad(lambda kernel: jnp.sin(x @ kernel).sum())
        >>> last = direct_products(jax.make_jaxpr(gradient)(kernel)).eqns[-1]
        >>> last.params["name"], last.params["jaxpr"].eqns[-1].params["dimension_numbers"]
        ('direct_product', (((0,), (0,)), ((), ())))
    """
    made: dict[Hashable, JaxprEqn] = {}
    found: dict[Jaxpr, Mapping[Var, tuple[JaxprEqn, _Transposed]]] = {}

    def replaced(jaxpr: Jaxpr, equation: JaxprEqn) -> JaxprEqn | Sequence[Atom] | None:
        if tracks_devices(equation):
            return equation
        if equation.primitive.name not in ("dot_general", "transpose"):
            return None
        if jaxpr not in found:
            found[jaxpr] = _find(jaxpr)
        if equation.primitive.name == "dot_general":
            is_unread = any(product is equation for product, _ in found[jaxpr].values())
            return (
                equation.invars[:1] if is_unread else None
            )  # whatever: only the transpose read it
        if equation.outvars[0] not in found[jaxpr]:
            return None
        product, transposed = found[jaxpr][equation.outvars[0]]
        operands = described(product.invars)
        key = (transposed, *operands)
        if key not in made:
            (made[key],) = jax.make_jaxpr(jax.jit(transposed.direct_product))(*operands).eqns
        return in_place_of(product, made[key]).replace(outvars=equation.outvars)

    jaxpr = Substitution(replaced).jaxpr(program.jaxpr)
    return program if jaxpr is program.jaxpr else program.replace(jaxpr=jaxpr)


def _find(jaxpr: Jaxpr) -> Mapping[Var, tuple[JaxprEqn, _Transposed]]:
    """Finds transposed products by their names, and the products, which nothing else reads."""
    products = {
        equation.outvars[0]: equation
        for equation in jaxpr.eqns
        if equation.primitive.name == "dot_general"
    }
    readers = Counter(
        atom
        for atoms in (*(equation.invars for equation in jaxpr.eqns), jaxpr.outvars)
        for atom in atoms
        if isinstance(atom, Var) and atom in products
    )
    found: dict[Var, tuple[JaxprEqn, _Transposed]] = {}
    for equation in jaxpr.eqns:
        operand = equation.invars[0] if equation.primitive.name == "transpose" else None
        if isinstance(operand, Var) and readers[operand] == 1:
            transposed = _transposed(products[operand], equation)
            if transposed is not None:
                found[equation.outvars[0]] = products[operand], transposed
    return found


def _transposed(product: JaxprEqn, transpose: JaxprEqn) -> _Transposed | None:
    """Describes the result of both; None if it is to stay as it is."""
    (left_summed, right_summed), (batch, _) = product.params["dimension_numbers"]
    left, right = map(aval_of, product.invars)
    left_kept, right_kept = left.ndim - len(left_summed), right.ndim - len(right_summed)
    is_exchange = transpose.params["permutation"] == (
        *range(left_kept, left_kept + right_kept),
        *range(left_kept),
    )
    sharding = product.params["out_sharding"]
    is_sharded = sharding is not None and any(sharding.spec)
    if len(left_summed) < 2 or batch or not is_exchange or is_sharded:
        return None
    is_real = left.dtype == right.dtype and left.dtype in (np.float32, np.float64)
    length = math.prod(left.shape[axis] for axis in left_summed)
    if not is_real or not length or left.size * right.size // length < _MIN_WORK:
        return None
    # Pairs of axes may be summed over in any order.
    pairs = sorted(zip(left_summed, right_summed, strict=True))
    sides = (
        _side([axis for axis, _ in pairs], left.ndim),
        _side([axis for _, axis in pairs], right.ndim),
    )
    if sides[0] is None or sides[1] is None:
        return None

    def matrix(size: int, side: int) -> tuple[int, int]:
        return (size // length, length) if side else (length, size // length)

    return _Transposed(
        shapes=(matrix(left.size, sides[0]), matrix(right.size, sides[1])),
        summed=(sides[0], sides[1]),
        shape=aval_of(transpose.outvars[0]).shape,
        options=tuple(
            (name, product.params[name]) for name in ("precision", "preferred_element_type")
        ),
    )


def _side(axes: Sequence[int], rank: int) -> int | None:
    """Says which axis of a matrix some axes become: the first, or the last; None where they lie elsewhere."""
    if list(axes) == list(range(len(axes))):
        return 0
    return 1 if list(axes) == list(range(rank - len(axes), rank)) else None
