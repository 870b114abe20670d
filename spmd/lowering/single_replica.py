"""A step on one replica needs no collectives: a sum over one replica is its value.

XLA keeps such sums on a CPU, where each costs a rendezvous of threads and a copy, and prevents fusion. So they are
removed from the traced program before it is compiled.
"""

from collections.abc import Sequence

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from spmd.lowering.substitution import Atom, Substitution

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

    def operands(jaxpr: Jaxpr, equation: JaxprEqn) -> Sequence[Atom] | None:
        del jaxpr
        return equation.invars if _is_reduction(equation, axes) else None

    return program.replace(jaxpr=Substitution(operands).jaxpr(program.jaxpr))


def _is_reduction(equation: JaxprEqn, axes: tuple[str, ...]) -> bool:
    return (
        equation.primitive.name in _ELEMENTWISE
        and tuple(equation.params.get("axes", ())) == axes
        and [variable.aval for variable in equation.invars]
        == [variable.aval for variable in equation.outvars]
    )
