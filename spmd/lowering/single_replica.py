"""A step on one replica needs no collectives: a sum over one replica is its value.

XLA keeps such sums on a CPU, where each costs a meeting of threads and a copy, and stands between
operations that could be one. So they are taken out of the traced program before it is compiled.
"""

from collections.abc import Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

# Elementwise over replicas: with one of them, the result is the operand.
_ELEMENTWISE = frozenset({"psum", "psum_invariant", "pmax", "pmin"})


def without_reductions(program: ClosedJaxpr, axes: tuple[str, ...]) -> ClosedJaxpr:
    """Takes the reductions over the replica axis out of a program for one replica.

    Args:
        program: a traced step, for a mesh of one replica.
        axes: of the mesh, over which replicas are counted.

    Returns:
        A program with the same inputs and outputs.
    """
    return program.replace(jaxpr=_without(program.jaxpr, axes))


def _without(jaxpr: Jaxpr, axes: tuple[str, ...]) -> Jaxpr:
    same: dict[Any, Any] = {}

    def now(atoms: Sequence[Any]) -> list[Any]:
        return [atom if isinstance(atom, Literal) else same.get(atom, atom) for atom in atoms]

    equations: list[Any] = []
    for equation in jaxpr.eqns:
        operands = now(equation.invars)
        if _is_reduction(equation, axes):
            same.update(zip(equation.outvars, operands, strict=True))
        else:
            params = {key: _opened(value, axes) for key, value in equation.params.items()}
            equations.append(equation.replace(invars=operands, params=params))
    return jaxpr.replace(eqns=equations, outvars=now(jaxpr.outvars))


def _is_reduction(equation: Any, axes: tuple[str, ...]) -> bool:
    return (
        equation.primitive.name in _ELEMENTWISE
        and tuple(equation.params.get("axes", ())) == axes
        and [variable.aval for variable in equation.invars]
        == [variable.aval for variable in equation.outvars]
    )


def _opened(value: Any, axes: tuple[str, ...]) -> Any:
    """Does the same to the programs among an operation's parameters: bodies of loops, branches."""
    if isinstance(value, Jaxpr):
        return _without(value, axes)
    if isinstance(value, ClosedJaxpr):
        return without_reductions(value, axes)
    if type(value) is tuple:  # a named tuple is an option, such as a gather's dimension numbers
        return tuple(_opened(item, axes) for item in value)
    return value
