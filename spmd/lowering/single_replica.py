"""A step on one replica needs no collectives: a sum over one replica is its value.

XLA keeps such sums on a CPU, where each costs a meeting of threads and a copy, and stands between
operations that could be one. So they are taken out of the traced program before it is compiled.
"""

from collections.abc import Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from spmd.topology.mesh import REPLICA_AXIS

# Elementwise over replicas: with one of them, the result is the operand.
_ELEMENTWISE = frozenset({"psum", "psum_invariant", "pmax", "pmin"})


def without_reductions(program: ClosedJaxpr) -> ClosedJaxpr:
    """Takes the reductions over the replica axis out of a program for one replica.

    Args:
        program: a traced step, for a mesh of one replica.

    Returns:
        A program with the same inputs and outputs.
    """
    return program.replace(jaxpr=_without(program.jaxpr))


def _without(jaxpr: Jaxpr) -> Jaxpr:
    same: dict[Any, Any] = {}

    def now(atoms: Sequence[Any]) -> list[Any]:
        return [atom if isinstance(atom, Literal) else same.get(atom, atom) for atom in atoms]

    equations: list[Any] = []
    for equation in jaxpr.eqns:
        operands = now(equation.invars)
        if _is_reduction(equation):
            same.update(zip(equation.outvars, operands, strict=True))
        else:
            params = {key: _opened(value) for key, value in equation.params.items()}
            equations.append(equation.replace(invars=operands, params=params))
    return jaxpr.replace(eqns=equations, outvars=now(jaxpr.outvars))


def _is_reduction(equation: Any) -> bool:
    return (
        equation.primitive.name in _ELEMENTWISE
        and tuple(equation.params.get("axes", ())) == (REPLICA_AXIS,)
        and [variable.aval for variable in equation.invars]
        == [variable.aval for variable in equation.outvars]
    )


def _opened(value: Any) -> Any:
    """Does the same to the programs among an operation's parameters: bodies of loops, branches."""
    if isinstance(value, Jaxpr):
        return _without(value)
    if isinstance(value, ClosedJaxpr):
        return without_reductions(value)
    if type(value) is tuple:  # a named tuple is an option, such as a gather's dimension numbers
        return tuple(_opened(item) for item in value)
    return value
