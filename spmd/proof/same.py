"""Do two operations compute the same? Told by their structure; what is not known counts as different."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from spmd import _jax_internals

_Atom: TypeAlias = Var | Literal


def same_operation(one: JaxprEqn, other: JaxprEqn) -> bool:
    """Tells whether two operations give the same results for the same operands.

    Args:
        one: an operation without side effects.
        other: likewise.
    """
    return one is other or (
        one.primitive is other.primitive and _same(dict(one.params), dict(other.params))
    )


def _same(one: Any, other: Any) -> bool:
    """Compares parameters of operations."""
    if one is other:
        return True
    if isinstance(one, Jaxpr | ClosedJaxpr):
        return isinstance(other, type(one)) and _same_programs(one, other)
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(_same(one[key], other[key]) for key in one)
        )
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and _content(one) == _content(other)
    try:
        return bool(one == other)
    except Exception:  # whatever a library's options say about being compared
        return False


def _same_programs(program: Jaxpr | ClosedJaxpr, another: Any) -> bool:
    constants = getattr(program, "consts", ()), getattr(another, "consts", ())
    if len(constants[0]) != len(constants[1]) or not all(map(_same_constant, *constants)):
        return False
    # From JAX 0.12 on, both classes are one.
    one = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    other = another.jaxpr if isinstance(another, ClosedJaxpr) else another
    counterparts: dict[Var, Any] = {}

    def bind(ours: Sequence[Var], theirs: Sequence[Var]) -> bool:
        counterparts.update(zip(ours, theirs, strict=False))
        return len(ours) == len(theirs) and all(map(_same_type, ours, theirs))

    def same(a: _Atom, b: _Atom) -> bool:
        if isinstance(a, Literal):
            return isinstance(b, Literal) and _same_type(a, b) and _same_constant(a.val, b.val)
        return counterparts.get(a) is b

    def each(
        compare: Callable[[Any, Any], bool], ours: Sequence[Any], theirs: Sequence[Any]
    ) -> bool:
        return len(ours) == len(theirs) and all(map(compare, ours, theirs))

    return (
        bind(one.constvars, other.constvars)
        and bind(one.invars, other.invars)
        and len(one.eqns) == len(other.eqns)
        and all(
            same_operation(a, b) and each(same, a.invars, b.invars) and bind(a.outvars, b.outvars)
            for a, b in zip(one.eqns, other.eqns, strict=True)
        )
        and each(same, one.outvars, other.outvars)
    )


def _same_type(one: _Atom, other: _Atom) -> bool:
    a, b = _jax_internals.aval_of(one), _jax_internals.aval_of(other)
    return (a.shape, a.dtype) == (b.shape, b.dtype)


def _same_constant(one: Any, other: Any) -> bool:
    if one is other:
        return True
    host = bool, int, float, complex, np.generic, np.ndarray
    return isinstance(one, host) and isinstance(other, host) and _content(one) == _content(other)


def _content(value: Any) -> tuple[Any, ...]:
    array = np.asarray(value)
    return array.dtype, array.shape, array.tobytes()
