"""Does a program take the rows of a block for the rows that it holds?

A block has as many rows as a full one, padding included; and numbers of rows are constants of a traced program. So
the program for blocks of one row more is compared with it: a constant that differs was made from that number
(`x.shape[0]`, the divisor of a mean), and so was the sum of something that is constant for every row
(`ones_like(x).sum()`), or the turns of a loop over rows. What is computed from it would count padding.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from spmd import _jax_internals
from spmd._jax_internals import opened, programs_in
from spmd.proof.dataflow import Flow, every_equation, scan_counts


def counting_outputs(
    program: ClosedJaxpr,
    jaxpr: Jaxpr,
    longer_program: ClosedJaxpr,
    longer: Jaxpr,
    *,
    rows: Sequence[bool],
    constants: int,
) -> list[bool]:
    """Finds the outputs of a replica's program that depend on how many rows a block has, not on what they hold.

    Args:
        program: of all replicas.
        jaxpr: that of one replica in it.
        longer_program: the same step's, for blocks of one row more.
        longer: likewise.
        rows: for every input of one replica's program, whether it holds rows, or says which are valid.
        constants: how many of its inputs are constants of the whole program, as the first of them are.

    Returns:
        For every output, whether it does; or may do so, because the two programs cannot be compared.
    """
    operands = _Operands()
    operands.outputs(jaxpr, list(rows))
    comparison = _Comparison(operands.seen)
    same = len(program.consts) == len(longer_program.consts) == constants
    if not same or not comparison.compare(jaxpr, longer):
        return [True] * len(jaxpr.outvars)
    differing = [
        not _is_start(mine, other)
        for mine, other in zip(program.consts, longer_program.consts, strict=True)
    ]
    rest = [False] * (len(jaxpr.invars) - constants)
    counted = _Counted(comparison.counting).outputs(jaxpr, [*differing, *rest])
    pairs = zip(jaxpr.outvars, longer.outvars, strict=True)
    return [flag or _differ(*pair) for flag, pair in zip(counted, pairs, strict=True)]


def unlike_sizes(jaxpr: Jaxpr, counts: Sequence[int]) -> list[int]:
    """Finds larger numbers of rows that no other axis of a program has.

    Code may tell by its length what has rows; so the numbers must be no other lengths, and few more: code may loop
    over rows.

    Args:
        jaxpr: the program of one replica.
        counts: for each batch, the rows of a block.
    """
    taken = {
        size
        for equation in every_equation(jaxpr)
        for atom in [*equation.invars, *equation.outvars]
        for size in _shape(atom)
    }
    taken |= {size for atom in jaxpr.invars for size in _shape(atom)}
    larger: dict[int, int] = {}
    for count in sorted(set(counts)):
        larger[count] = next(size for size in itertools.count(count + 1) if size not in taken)
        taken.add(larger[count])
    return [larger[count] for count in counts]


class _Operands(Flow):
    """Notes for each operation which of its operands depend on what the pass begins with."""

    def __init__(self) -> None:
        super().__init__(None)
        self.seen: dict[int, list[bool]] = {}

    def results(self, equation: JaxprEqn, inputs: list[bool]) -> list[bool]:
        before = self.seen.get(id(equation), [False] * len(inputs))
        self.seen[id(equation)] = [a or b for a, b in zip(before, inputs, strict=True)]
        return super().results(equation, inputs)


class _Counted(Flow):
    """Follows the results of operations that count rows."""

    def __init__(self, counting: Mapping[int, Sequence[bool]]) -> None:
        super().__init__(None)
        self._counting = counting

    def results(self, equation: JaxprEqn, inputs: list[bool]) -> list[bool]:
        outs = super().results(equation, inputs)
        counting = self._counting.get(id(equation))
        return outs if counting is None else [a or b for a, b in zip(outs, counting, strict=True)]


class _Comparison:
    """Finds the operations in which a program differs from that for more rows, in more than shapes."""

    def __init__(self, operands: Mapping[int, Sequence[bool]]) -> None:
        self._operands = operands
        # For each operation that counts rows, by its id: which of its results do.
        self.counting: dict[int, list[bool]] = {}

    def compare(self, jaxpr: Jaxpr, longer: Jaxpr) -> bool:
        """Compares two programs; False if they do not consist of the same operations."""
        if jaxpr is longer:
            return True
        return len(jaxpr.eqns) == len(longer.eqns) and all(
            map(self._compare, jaxpr.eqns, longer.eqns)
        )

    def _compare(self, equation: JaxprEqn, longer: JaxprEqn) -> bool:
        mine, others = programs_in(equation.params), programs_in(longer.params)
        if equation.primitive is not longer.primitive or len(mine) != len(others):
            return False
        counts = (
            any(map(_differ, equation.invars, longer.invars))
            or _other_numbers(equation, longer)
            or (not mine and self._sums_constants(equation, longer))
        )
        results = [counts] * len(equation.outvars)
        name = equation.primitive.name
        if name == "scan" and equation.params["length"] != longer.params["length"]:
            # What is carried has gone through as many turns; what is stacked up has an entry for each.
            carried = scan_counts(equation)[1]
            results = [counts or index < carried for index in range(len(results))]
        if any(results):
            self.counting[id(equation)] = results
        for inner, other in zip(mine, others, strict=True):
            pairs = zip(getattr(inner, "consts", ()), getattr(other, "consts", ()), strict=False)
            if not all(_is_start(a, b) for a, b in pairs):
                return False
            inner, other = opened(inner), opened(other)
            if any(map(_differ, inner.outvars, other.outvars)) or not self.compare(inner, other):
                return False
        return True

    def _sums_constants(self, equation: JaxprEqn, longer: JaxprEqn) -> bool:
        """Tells whether an operation leaves the axis of rows of what is the same whatever the rows hold."""
        # The pass does not look into what it knows.
        depends = self._operands.get(id(equation), [True] * len(equation.invars))
        with_rows = [
            depending
            for atom, other, depending in zip(equation.invars, longer.invars, depends, strict=True)
            if _shape(atom) != _shape(other)
        ]
        keeps = any(
            _shape(atom) != _shape(other)
            for atom, other in zip(equation.outvars, longer.outvars, strict=True)
        )
        return bool(with_rows) and not any(with_rows) and not keeps


def _shape(atom: Any) -> tuple[int, ...]:
    return getattr(_jax_internals.aval_of(atom), "shape", ())


def _differ(atom: Any, other: Any) -> bool:
    if not isinstance(atom, Literal):
        return isinstance(other, Literal)
    return not isinstance(other, Literal) or not _is_start(atom.val, other.val)


def _other_numbers(equation: JaxprEqn, longer: JaxprEqn) -> bool:
    """Tells whether a number among the parameters differs: `x ** n` for a number of rows n."""
    return any(
        type(value) in (int, float) and not _is_start(value, longer.params.get(name))
        for name, value in equation.params.items()
        if name != "length"
    )


def _is_start(value: Any, longer: Any) -> bool:
    """Tells whether a constant is another one, or the first rows of it."""
    if value is longer:
        return True
    try:
        mine, other = np.asarray(value), np.asarray(longer)
    except TypeError:  # random keys
        return False
    if mine.ndim != other.ndim:
        return False
    start = other[tuple(slice(size) for size in mine.shape)]
    return (
        start.shape == mine.shape
        and start.dtype == mine.dtype
        and start.tobytes() == mine.tobytes()
    )
