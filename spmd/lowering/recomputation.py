"""Values that XLA would compute again wherever they are read, computed once.

XLA fuses elementwise operations on a processor into everything that reads their result: each reader computes them
again from arrays in memory. A cheap value is best read like this. But in a deep residual network a value is the sum of what
all layers before it gave, and is read in every layer after it, so the work grows with the square of the depth: in a
transformer of 12 layers it takes a third of a step, and of the time until the first one.

The pass counts the arrays from which each value would be computed again, its *sources*. A large value with several, or a small
one with many, becomes a function that XLA may not inline if it has several readers, so that it is an array in memory itself.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

import jax
import jax.numpy as jnp
from jax.experimental.xla_metadata import set_xla_metadata
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from spmd._jax_internals import aval_of
from spmd.lowering.elementwise import ELEMENTWISE
from spmd.lowering.row_access import CALLS
from spmd.lowering.substitution import Atom, Substitution, described, in_place_of, tracks_devices

# Elements of a value: a smaller one is computed again in microseconds.
_MIN_ELEMENTS = 2**16

# Sources of a value that is computed once. The moments of an optimizer have two, and are best fused with what reads them.
_MIN_SOURCES = 4

# Elements and sources of a smaller value, whose readers take long to compile: the gradient of a feature of a densely connected
# network is the sum of what all layers after it gave.
_SMALL_ELEMENTS, _MANY_SOURCES = 2**10, 12

# Besides elementwise operations XLA fuses these, which move elements.
_FUSED = ELEMENTWISE | {
    "broadcast_in_dim",
    "erf",
    "expand_dims",
    "reshape",
    "shift_right_logical",
    "slice",
    "split",
    "squeeze",
    "stop_gradient",
    "transpose",
    "xor",
}


def bound_recomputation(program: ClosedJaxpr) -> ClosedJaxpr:
    """Has values with several sources and several readers computed once.

    Args:
        program: a traced program.

    Returns:
        A program with the same inputs and outputs; the same object if there is no such value.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> def layers(x, weights):
        ...     for weight in weights:
        ...         x = x + jnp.tanh(x) @ weight
        ...     return x
        >>> program = jax.make_jaxpr(layers)(jnp.ones((512, 128)), jnp.ones((4, 128, 128)))
        >>> sum(
        ...     equation.params.get("name") == "once"
        ...     for equation in bound_recomputation(program).eqns
        ... )
        1
    """
    found: dict[Jaxpr, set[Var]] = {}

    def replaced(jaxpr: Jaxpr, equation: JaxprEqn) -> JaxprEqn | None:
        if tracks_devices(equation):
            return equation
        if jaxpr not in found:
            found[jaxpr] = _computed_once(jaxpr)
        return _once(equation) if found[jaxpr].intersection(equation.outvars) else None

    jaxpr = Substitution(replaced).jaxpr(program.jaxpr)
    return program if jaxpr is program.jaxpr else program.replace(jaxpr=jaxpr)


def computed_once(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """Has the result of a function be an array in memory, whatever reads it.

    Args:
        function: of arrays; profiles show it under its name.

    Returns:
        The function, in a call that XLA does not inline.

    Examples:
        >>> import operator
        >>> float(computed_once(operator.neg)(2.0))
        -2.0
    """
    compiled = jax.jit(function)

    def call(*operands: jax.Array) -> jax.Array:
        with set_xla_metadata(inlineable="false"):
            return compiled(*operands)

    return call


def _computed_once(jaxpr: Jaxpr) -> set[Var]:
    """Finds the values of a program, without those in its loops and calls, that are to be computed once."""
    readers = _readers(jaxpr)
    sources: dict[Var, frozenset[Var]] = {}
    chosen: set[Var] = set()

    def of(atom: Atom) -> frozenset[Var]:
        if isinstance(atom, Literal) or aval_of(atom).size < _SMALL_ELEMENTS:
            return frozenset()
        return sources.get(atom, frozenset([atom]))

    def are_many(read: frozenset[Var], size: int) -> bool:
        large = sum(aval_of(source).size >= _MIN_ELEMENTS for source in read)
        is_large = size >= _MIN_ELEMENTS and large >= _MIN_SOURCES
        return is_large or len(read) >= _MANY_SOURCES

    for equation in jaxpr.eqns:
        if equation.outvars and _is_fused(equation):
            read = frozenset[Var]().union(*map(of, equation.invars))
            if (
                are_many(read, aval_of(equation.outvars[0]).size)
                and _can_stand_alone(equation)
                and len(readers[equation.outvars[0]]) > 1
            ):
                chosen.add(equation.outvars[0])
            else:
                sources |= dict.fromkeys(equation.outvars, read)
    return chosen


def _readers(jaxpr: Jaxpr) -> Mapping[Var, set[object]]:
    """Finds what would compute each value: its readers, and theirs where XLA fuses those. No more than two count."""
    readers: dict[Var, set[object]] = defaultdict(set)

    def add(atoms: Iterable[Atom], found: Iterable[object]) -> None:
        for atom in atoms:
            if isinstance(atom, Var) and len(readers[atom]) < 2:
                readers[atom].update(found)

    for position, output in enumerate(jaxpr.outvars):
        add([output], [position])
    for equation in reversed(jaxpr.eqns):
        if _is_fused(equation):
            add(equation.invars, set[object]().union(*(readers[one] for one in equation.outvars)))
            continue
        # XLA inlines a call, such as that of a softmax, which may read an operand more than once.
        times = 2 if equation.primitive.name in CALLS else 1
        for position, operand in enumerate(equation.invars):
            add([operand], [(id(equation), position, time) for time in range(times)])
    return readers


def _is_fused(equation: JaxprEqn) -> bool:
    """Tells whether XLA fuses an operation, or all of those in a call, into what reads the result."""
    called = CALLS.get(equation.primitive.name)
    if called is None:
        return equation.primitive.name in _FUSED
    program = equation.params[called]
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    return isinstance(jaxpr, Jaxpr) and all(map(_is_fused, jaxpr.eqns))


def _can_stand_alone(equation: JaxprEqn) -> bool:
    """Tells whether the result of an operation is an array of `_SMALL_ELEMENTS` real numbers or more, and the operation can be traced anew."""
    result = aval_of(equation.outvars[0])
    return (
        equation.primitive.name in ELEMENTWISE
        and result.size >= _SMALL_ELEMENTS
        and jnp.issubdtype(result.dtype, jnp.floating)
        and equation.params.get("sharding") is None
    )


def _once(equation: JaxprEqn) -> JaxprEqn:
    """Puts an operation into a function that XLA does not inline."""

    def once(*operands: jax.Array) -> jax.Array:
        return equation.primitive.bind(*operands, **equation.params)

    (made,) = jax.make_jaxpr(computed_once(once))(*described(equation.invars)).eqns
    return in_place_of(equation, made)
