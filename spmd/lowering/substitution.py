"""Replaces operations of a traced program, wherever in it they stand."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from spmd._jax_internals import aval_of

Atom: TypeAlias = Var | Literal
# Gets the program that an operation stands in, and the operation. Returns an operation with the same results, or the
# values that are its results; None to look for operations in the programs that it holds (bodies of loops, branches).
Choose: TypeAlias = Callable[[Jaxpr, JaxprEqn], JaxprEqn | Sequence[Atom] | None]


class Substitution:
    """One pass over a program and those in it; a program in which nothing is replaced stays the same object."""

    def __init__(self, choose: Choose) -> None:
        """Prepares a pass that replaces what a function chooses."""
        self._choose = choose
        # A function that is called often stays one program, which XLA is given once.
        self._replaced: dict[ClosedJaxpr | Jaxpr, ClosedJaxpr | Jaxpr] = {}

    def jaxpr(self, jaxpr: Jaxpr) -> Jaxpr:
        """Returns a program with the same inputs and outputs."""
        same: dict[Var, Atom] = {}

        def now(atoms: Sequence[Atom]) -> list[Atom]:
            return [atom if isinstance(atom, Literal) else same.get(atom, atom) for atom in atoms]

        equations: list[JaxprEqn] = []
        for equation in jaxpr.eqns:
            operands = now(equation.invars)
            if not _same(operands, equation.invars):
                equation = equation.replace(invars=operands)
            chosen = self._choose(jaxpr, equation)
            if chosen is None:
                equations.append(self.opened(equation))
            elif isinstance(chosen, JaxprEqn):
                equations.append(chosen)
            else:
                same.update(zip(equation.outvars, chosen, strict=True))
        if not same and _same(equations, jaxpr.eqns):
            return jaxpr
        return jaxpr.replace(eqns=equations, outvars=now(jaxpr.outvars))

    def opened(self, equation: JaxprEqn) -> JaxprEqn:
        """Returns an operation with the programs that it holds replaced."""
        if not any(map(_holds_programs, equation.params.values())):
            return equation  # as nearly all are: models have tens of thousands
        params = {key: self._in_params(value) for key, value in equation.params.items()}
        same = _same(params.values(), equation.params.values())
        return equation if same else equation.replace(params=params)

    def _in_params(self, value: object) -> Any:
        """Does the same for the programs among an operation's parameters."""
        if isinstance(value, ClosedJaxpr | Jaxpr):
            if value not in self._replaced:
                self._replaced[value] = self._program(value)
            return self._replaced[value]
        if type(value) is tuple:  # a named tuple is an option, such as a gather's dimension numbers
            items = tuple(map(self._in_params, value))
            return value if _same(items, value) else items
        return value

    def _program(self, program: ClosedJaxpr | Jaxpr) -> ClosedJaxpr | Jaxpr:
        if isinstance(program, Jaxpr):
            return self.jaxpr(program)
        jaxpr = self._in_params(program.jaxpr)
        return program if jaxpr is program.jaxpr else program.replace(jaxpr=jaxpr)


def described(atoms: Sequence[Atom]) -> list[jax.ShapeDtypeStruct]:
    """Returns the shapes and dtypes of operands, as functions are traced for."""
    return [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in map(aval_of, atoms)]


def in_place_of(equation: JaxprEqn, call: JaxprEqn) -> JaxprEqn:
    """Returns a call with the operands and results of an operation."""
    return call.replace(
        invars=equation.invars, outvars=equation.outvars, source_info=equation.source_info
    )


def tracks_devices(equation: JaxprEqn) -> bool:
    """Tells whether `shard_map` tracks which values in it differ between devices: a new function carries no such types."""
    return bool(equation.params.get("check_vma"))


def _holds_programs(value: object) -> bool:
    if type(value) is tuple:
        return any(map(_holds_programs, value))
    return isinstance(value, ClosedJaxpr | Jaxpr)


def _same(ours: Iterable[object], theirs: Iterable[object]) -> bool:
    return all(a is b for a, b in zip(ours, theirs, strict=True))
