"""A step on one replica needs no collectives: a sum over one replica is its value.

XLA keeps such sums on a CPU, where each costs a rendezvous of threads and a copy, and prevents fusion. So they are
removed from the traced program before it is compiled.
"""

from collections.abc import Sequence

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

# Elementwise over replicas: with one of them, the result is the operand.
_ELEMENTWISE = frozenset({"psum", "psum_invariant", "pmax", "pmin"})


def without_reductions(program: ClosedJaxpr, axes: tuple[str, ...]) -> ClosedJaxpr:
    """Removes reductions over the data axes from a program for one replica.

    Args:
        program: a traced step, for a mesh of one replica.
        axes: the data axes of the mesh.

    Returns:
        A program with the same inputs and outputs.
    """
    return program.replace(jaxpr=_without(program.jaxpr, axes))


def _without(jaxpr: Jaxpr, axes: tuple[str, ...]) -> Jaxpr:
    same: dict[Var, Var | Literal] = {}

    def now(atoms: Sequence[Var | Literal]) -> list[Var | Literal]:
        return [atom if isinstance(atom, Literal) else same.get(atom, atom) for atom in atoms]

    equations: list[JaxprEqn] = []
    for equation in jaxpr.eqns:
        operands = now(equation.invars)
        if _is_reduction(equation, axes):
            same.update(zip(equation.outvars, operands, strict=True))
        else:
            params = {key: _opened(value, axes) for key, value in equation.params.items()}
            equations.append(equation.replace(invars=operands, params=params))
    return jaxpr.replace(eqns=equations, outvars=now(jaxpr.outvars))


def _is_reduction(equation: JaxprEqn, axes: tuple[str, ...]) -> bool:
    return (
        equation.primitive.name in _ELEMENTWISE
        and tuple(equation.params.get("axes", ())) == axes
        and [variable.aval for variable in equation.invars]
        == [variable.aval for variable in equation.outvars]
    )


def _opened(value: object, axes: tuple[str, ...]) -> object:
    """Does the same for the programs among an operation's parameters: bodies of loops, branches."""
    if isinstance(value, Jaxpr):
        return _without(value, axes)
    if isinstance(value, ClosedJaxpr):
        return without_reductions(value, axes)
    if type(value) is tuple:  # a named tuple is an option, such as a gather's dimension numbers
        return tuple(_opened(item, axes) for item in value)
    return value
