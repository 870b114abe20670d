"""Several replicas' programs in one: evaluated side by side, each up to its next collective, where their values meet.

A replica with fewer rows than the others runs a program of its own, because shapes are part of a program. So the
replicas are *groups* of those with equally many rows, and a group has one program. What its members have each for
themselves is stacked along a new first axis, and computed for all of them by `jax.vmap`; so there are as many copies
of the step as there are groups, however many replicas there are.

The evaluation is a proof as well. An operation on the same operands is done once, whichever group asks for it, so a
value that is equal on all replicas is *one* value here: what comes out of a collective, and what is made of such
values alone (`is_same`). What merely happens to be equal is not.
"""

import dataclasses
import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from spmd import _jax_internals
from spmd.errors import ReplicaDivergenceError
from spmd.lowering import CALLS
from spmd.proof import asks_the_host, depends_on_in, names_axis, same_operation, scan_counts
from spmd.step.exchanges import Exchange
from spmd.step.shared_operations import SharedOperations


@dataclasses.dataclass(frozen=True, eq=False)
class Value:
    """What the members of one group have.

    Attributes:
        array: the value; if `own` and the group has several members, theirs, stacked along a new first axis.
        own: whether each replica has a value of its own.
    """

    array: Any
    own: bool = False


# What each group has for one value of a step, by the group's index.
Column: TypeAlias = Mapping[int, Value]
# How a column is told apart from another one: the groups whose members have values of their own; None if all
# replicas have the same.
_Form: TypeAlias = frozenset[int] | None
_Arrays: TypeAlias = list[Any]


@dataclasses.dataclass(frozen=True)
class _Meeting:
    """Where a group waits for the others: an operation, and its operands."""

    equation: JaxprEqn
    values: list[Value]


_Run: TypeAlias = Generator[_Meeting, list[Value], list[Value]]

# Opened as calls are (`CALLS`), but only if there is a collective in them: otherwise memory is saved by leaving them whole.
_CHECKPOINTS: Mapping[str, str] = {"checkpoint": "jaxpr", "remat": "jaxpr", "remat2": "jaxpr"}
_LOOPS = frozenset({"scan", "while", "cond"})


class Lockstep:
    """An evaluation of the groups' programs; it is itself traced, and runs nothing."""

    def __init__(self, members: Sequence[Sequence[int]], axis: str) -> None:
        """Prepares an evaluation.

        Args:
            members: the replicas of each group.
            axis: the name that collectives over replicas give.
        """
        self.members = members
        self._axis = axis
        self._replicas = sum(map(len, members))
        self._shared = SharedOperations()
        self._exchange = Exchange(members, lambda *args: self._shared.once(*args))

    def evaluate(
        self, programs: Sequence[ClosedJaxpr], operands: Sequence[Sequence[Value]]
    ) -> list[Column]:
        """Evaluates the groups' programs.

        Args:
            programs: one for each group.
            operands: of each.

        Returns:
            For each output, what the groups have.

        Raises:
            ReplicaDivergenceError: replicas do not reach the same collectives.
        """
        runs = {
            group: self._run(group, program, values)
            for group, (program, values) in enumerate(zip(programs, operands, strict=True))
        }
        return _columns(self._drive(runs))

    def constant(self, value: Any) -> Value:
        """Makes a value of a constant; equal constants are one value."""
        return Value(self._shared.constant(value))

    def is_same(self, column: Column) -> bool:
        """Tells whether all replicas have one and the same value."""
        first, *others = column.values()
        return not first.own and all(
            not other.own and other.array is first.array for other in others
        )

    def _agree(self, column: Column) -> bool:
        return self._replicas == 1 or self.is_same(column)

    def stacks(self, group: int, value: Value) -> bool:
        """Tells whether a value is stacked: one for each of several members."""
        return value.own and len(self.members[group]) > 1

    def shapes(self, column: Column) -> list[tuple[int, ...]]:
        """Lists the shape that each replica has."""
        found: dict[int, tuple[int, ...]] = {}
        for group, value in column.items():
            shape = jnp.shape(value.array)[1 if self.stacks(group, value) else 0 :]
            found |= dict.fromkeys(self.members[group], shape)
        return [found[replica] for replica in sorted(found)]

    def stacked(self, column: Column) -> jax.Array:
        """Stacks the values of all replicas, in their order; they have one shape."""
        return self._exchange.stacked(_arrays_by_group(column))

    # One group.

    def _run(self, group: int, program: Jaxpr | ClosedJaxpr, values: Sequence[Value]) -> _Run:
        """Evaluates one group's program; yields where it meets the others, and is sent what comes of that."""
        jaxpr, constants = _opened(program)
        known: dict[Var, Value] = dict(
            zip(
                [*jaxpr.constvars, *jaxpr.invars],
                [*map(self.constant, constants), *values],
                strict=True,
            )
        )

        def read(atom: Var | Literal) -> Value:
            return self._literal(atom) if isinstance(atom, Literal) else known[atom]

        for equation in _used(jaxpr):
            operands = list(map(read, equation.invars))
            name = equation.primitive.name
            inner = self._program_called(equation)
            if inner is not None:
                results = yield from self._run(group, inner, operands)
            elif name == "axis_index":
                results = [self._index(group)]
            elif self._meets(equation, operands):
                results = yield _Meeting(equation, operands)
            else:
                results = self._operate(group, equation, operands)
            known.update(zip(equation.outvars, results, strict=True))
        return list(map(read, jaxpr.outvars))

    def _program_called(self, equation: JaxprEqn) -> Jaxpr | ClosedJaxpr | None:
        name = equation.primitive.name
        if name in CALLS:  # evaluated as if its operations stood here
            return equation.params[CALLS[name]]
        if name in _CHECKPOINTS and names_axis(equation, self._axis):
            return equation.params[_CHECKPOINTS[name]]
        return None

    def _meets(self, equation: JaxprEqn, operands: Sequence[Value]) -> bool:
        """Tells whether an operation needs the other groups, or gains by waiting for them."""
        if names_axis(equation, self._axis):
            return True
        if equation.primitive.name not in _LOOPS or asks_the_host(equation):
            return False
        # A loop over own rows may compute besides what all replicas share, such as a count of its turns.
        own = [value.own for value in operands]
        return any(own) and not all(depends_on_in(equation, own))

    def _operate(self, group: int, equation: JaxprEqn, values: Sequence[Value]) -> list[Value]:
        """Does an operation that needs no other group."""
        arrays = [value.array for value in values]
        stacks = [self.stacks(group, value) for value in values]

        def bind(*operands: Any) -> Sequence[Any]:
            out = equation.primitive.bind(*operands, **equation.params)
            return out if equation.primitive.multiple_results else [out]

        if asks_the_host(equation):
            # Each replica asks for itself, and what it is told is its own.
            answers = [
                bind(*(a[i] if stack else a for a, stack in zip(arrays, stacks, strict=True)))
                for i in range(len(self.members[group]))
            ]
            return _restacked(answers)
        if not any(value.own for value in values):
            return list(map(Value, self._shared.operation(equation, arrays, bind)))
        if not any(stacks):
            return [Value(result, own=True) for result in bind(*arrays)]
        own = [index for index, stack in enumerate(stacks) if stack]

        def of_one(*mine: Any) -> Sequence[Any]:
            operands = list(arrays)
            for index, array in zip(own, mine, strict=True):
                operands[index] = array
            return bind(*operands)

        stacked = [arrays[index] for index in own]
        try:
            results = jax.vmap(of_one)(*stacked)
        except (NotImplementedError, TypeError, ValueError):
            # Not every operation can be done for several at once (calls of the host, for one).
            return _restacked(
                [of_one(*(a[i] for a in stacked)) for i in range(len(self.members[group]))]
            )
        return [Value(result, own=True) for result in results]

    def _has_several(self, group: int) -> bool:
        return len(self.members[group]) > 1

    def _literal(self, literal: Literal) -> Value:
        return self.constant(np.asarray(literal.val, _jax_internals.aval_of(literal).dtype))

    def _index(self, group: int) -> Value:
        members = np.array(self.members[group], np.int32)
        return Value(members if self._has_several(group) else members[0], own=True)

    # All groups.

    def _drive(self, runs: Mapping[int, _Run]) -> dict[int, list[Value]]:
        """Lets all run to their next meeting, brings them together there, and so on to the end."""
        waiting: dict[int, _Meeting] = {}
        ended: dict[int, list[Value]] = {}

        def go_on(group: int, results: Any) -> None:
            waiting.pop(group, None)
            try:
                waiting[group] = runs[group].send(results)
            except StopIteration as end:
                ended[group] = end.value

        for group in runs:
            go_on(group, None)
        while waiting:
            together = self._together(waiting) if len(waiting) == len(runs) else None
            if together is not None:
                for group, results in together.items():
                    go_on(group, results)
                continue
            alone = {
                group: self._alone(group, meeting)
                for group, meeting in waiting.items()
                if not self._has_collective(meeting.equation)
            }
            if not alone:
                raise _mismatch(waiting, sorted(ended))
            for group, results in alone.items():
                go_on(group, results)
        return ended

    def _has_collective(self, equation: JaxprEqn) -> bool:
        return names_axis(equation, self._axis, index=False)

    def _alone(self, group: int, meeting: _Meeting) -> list[Value]:
        """Does an operation of one group that may as well wait for nobody."""
        if names_axis(meeting.equation, self._axis):  # it asks for the replica's index somewhere
            results = self._together({group: meeting})
            if results is None:
                raise _mismatch({group: meeting}, [])
            return results[group]
        return self._operate(group, meeting.equation, meeting.values)

    def _together(self, waiting: Mapping[int, _Meeting]) -> dict[int, list[Value]] | None:
        """Does an operation of several groups; None if they wait at unlike ones."""
        first, *others = [meeting.equation for meeting in waiting.values()]
        name = first.primitive.name
        if any(other.primitive.name != name for other in others):
            return None
        operands = _columns({group: meeting.values for group, meeting in waiting.items()})
        equations = {group: meeting.equation for group, meeting in waiting.items()}
        match name:
            case "scan":
                results = self._scan(equations, operands)
            case "while":
                results = self._while(equations, operands)
            case "cond":
                results = self._cond(equations, operands)
            case _:
                results = self._collective(equations, operands)
        if results is None:
            return None
        return {group: [column[group] for column in results] for group in waiting}

    def _collective(
        self, equations: Mapping[int, JaxprEqn], operands: Sequence[Column]
    ) -> list[Column] | None:
        first, *others = equations.values()
        if first.primitive.name == "every_block":
            (column,) = operands
            blocks = self._exchange.each(_arrays_by_group(column), self.is_same(column))
            return [dict.fromkeys(column, Value(block)) for block in blocks]
        if first.primitive.name == "sum_of_blocks":
            totals = [
                self._exchange.total(_arrays_by_group(one), self.is_same(one)) for one in operands
            ]
            made = self._exchange.regrouped(totals)
            return [{group: Value(*made[group]) for group in operands[0]}]
        if not all(same_operation(first, other) for other in others):
            return None
        results: list[Column] = []
        for column in operands:
            made = self._exchange.combine(first, _arrays_by_group(column), self.is_same(column))
            results.append({group: Value(*made[group]) for group in column})
        return results

    def _scan(
        self, equations: Mapping[int, JaxprEqn], operands: Sequence[Column]
    ) -> list[Column] | None:
        params = [equation.params for equation in equations.values()]
        if len({(one["length"], one["reverse"]) for one in params}) > 1:
            return None
        counts = {scan_counts(equation) for equation in equations.values()}
        if len(counts) > 1:
            return None
        ((consts, carries),) = counts
        fixed, start = list(operands[:consts]), list(operands[consts : consts + carries])
        rows = [self._turned(column, 1, 0) for column in operands[consts + carries :]]
        row_forms = [self._form(column) for column in rows]
        bodies = {group: equation.params["jaxpr"] for group, equation in equations.items()}
        groups = list(equations)

        def turn(carry: Sequence[Column], row: Sequence[Column]) -> list[Column]:
            return self._inside(bodies, [*fixed, *carry, *row])

        def rows_of(arrays: _Arrays) -> list[Column]:
            return _decoded(arrays, row_forms, groups)

        scanned = self._encoded(rows, row_forms)
        a_row = [jax.ShapeDtypeStruct(array.shape[1:], array.dtype) for array in scanned]
        forms = self._settled(
            groups, start, lambda carry, row: turn(carry, rows_of(row))[:carries], a_row
        )
        result_forms: list[_Form] = []

        def body(carry: _Arrays, row: _Arrays) -> tuple[_Arrays, _Arrays]:
            out = turn(_decoded(carry, forms, groups), rows_of(row))
            result_forms[:] = [self._form(column) for column in out[carries:]]
            return self._encoded(out[:carries], forms), self._encoded(out[carries:], result_forms)

        carry, stacked = jax.lax.scan(
            body,
            self._encoded(start, forms),
            scanned,
            length=params[0]["length"],
            reverse=params[0]["reverse"],
        )
        results = [self._turned(one, 0, 1) for one in _decoded(stacked, result_forms, groups)]
        return [*_decoded(carry, forms, groups), *results]

    def _while(
        self, equations: Mapping[int, JaxprEqn], operands: Sequence[Column]
    ) -> list[Column] | None:
        params = next(iter(equations.values())).params
        of_condition, of_body = params["cond_nconsts"], params["body_nconsts"]
        asked = operands[:of_condition]
        fixed = operands[of_condition : of_condition + of_body]
        start = list(operands[of_condition + of_body :])
        groups = list(equations)
        conditions = {g: equation.params["cond_jaxpr"] for g, equation in equations.items()}
        bodies = {g: equation.params["body_jaxpr"] for g, equation in equations.items()}

        def goes_on(carry: Sequence[Column]) -> Column:
            return self._inside(conditions, [*asked, *carry])[0]

        def turn(carry: Sequence[Column], _: _Arrays) -> list[Column]:
            return self._inside(bodies, [*fixed, *carry])

        forms = self._settled(groups, start, turn, [])
        encoded = self._encoded(start, forms)
        is_common: list[bool] = []

        def asks(carry: _Arrays) -> Any:
            column = goes_on(_decoded(carry, forms, groups))
            is_common[:] = [self._agree(column)]
            return next(iter(column.values())).array

        jax.eval_shape(asks, encoded)
        if not is_common[0]:
            return None  # each group turns for itself
        carry = jax.lax.while_loop(
            lambda carry: asks(carry),
            lambda carry: self._encoded(turn(_decoded(carry, forms, groups), []), forms),
            encoded,
        )
        return _decoded(carry, forms, groups)

    def _cond(
        self, equations: Mapping[int, JaxprEqn], operands: Sequence[Column]
    ) -> list[Column] | None:
        index, *rest = operands
        counts = {len(equation.params["branches"]) for equation in equations.values()}
        if len(counts) > 1 or not self._agree(index):
            return None
        branches = [
            {group: equation.params["branches"][branch] for group, equation in equations.items()}
            for branch in range(counts.pop())
        ]
        groups = list(equations)
        forms: list[_Form] = [None] * len(next(iter(equations.values())).outvars)
        for branch in branches:
            forms = [*map(_joined, forms, self._forms_of(lambda: self._inside(branch, rest)))]  # noqa: B023
        taken = [
            functools.partial(lambda one: self._encoded(self._inside(one, rest), forms), branch)
            for branch in branches
        ]
        which = next(iter(index.values())).array
        return _decoded(jax.lax.switch(which, taken), forms, groups)

    def _inside(
        self, programs: Mapping[int, ClosedJaxpr], operands: Sequence[Column]
    ) -> list[Column]:
        """Evaluates what an operation holds. What it computes is known there only."""
        outside, self._shared = self._shared, SharedOperations(self._shared)
        try:
            return _columns(
                self._drive(
                    {
                        group: self._run(group, program, [column[group] for column in operands])
                        for group, program in programs.items()
                    }
                )
            )
        finally:
            self._shared = outside

    # Columns as the arrays that JAX's loops take, and back.

    def _settled(
        self,
        groups: Sequence[int],
        start: Sequence[Column],
        turn: Callable[[Sequence[Column], _Arrays], list[Column]],
        row: Sequence[Any],
    ) -> list[_Form]:
        """Finds forms of what a loop carries that hold at every turn."""
        forms = [self._form(column) for column in start]
        while True:
            carry = [
                jax.ShapeDtypeStruct(array.shape, array.dtype)
                for array in self._encoded(start, forms)
            ]
            now = forms
            after = self._forms_of(
                lambda carry, row: turn(_decoded(carry, now, groups), row),  # noqa: B023
                carry,
                list(row),
            )
            forms = list(map(_joined, now, after))
            if forms == now:
                return forms

    def _forms_of(self, function: Callable[..., list[Column]], *args: Any) -> list[_Form]:
        found: list[_Form] = []

        def look(*args: Any) -> int:
            found[:] = [self._form(column) for column in function(*args)]
            return 0

        jax.eval_shape(look, *args)
        return found

    def _form(self, column: Column) -> _Form:
        if self.is_same(column):
            return None
        return frozenset(group for group, value in column.items() if value.own)

    def _encoded(self, columns: Sequence[Column], forms: Sequence[_Form]) -> _Arrays:
        arrays: _Arrays = []
        for column, form in zip(columns, forms, strict=True):
            if form is None:
                arrays.append(_strong(next(iter(column.values())).array))
            else:
                arrays += [
                    _strong(self._own(group, value) if group in form else value.array)
                    for group, value in column.items()
                ]
        return arrays

    def _own(self, group: int, value: Value) -> Any:
        array = jnp.asarray(value.array)
        if value.own or not self._has_several(group):
            return array
        return jnp.broadcast_to(array, (len(self.members[group]), *array.shape))

    def _turned(self, column: Column, source: int, target: int) -> Column:
        """Moves the axis of turns before that of a group's members, or back."""
        return {
            group: Value(jnp.moveaxis(value.array, source, target), own=True)
            if self.stacks(group, value)
            else value
            for group, value in column.items()
        }


def _columns(results: Mapping[int, Sequence[Value]]) -> list[Column]:
    groups = list(results)
    return [
        dict(zip(groups, values, strict=True))
        for values in zip(*(results[group] for group in groups), strict=True)
    ]


def _arrays_by_group(column: Column) -> dict[int, tuple[Any, bool]]:
    return {group: (value.array, value.own) for group, value in column.items()}


def _decoded(arrays: Sequence[Any], forms: Sequence[_Form], groups: Sequence[int]) -> list[Column]:
    left = iter(arrays)
    columns: list[Column] = []
    for form in forms:
        if form is None:
            columns.append(dict.fromkeys(groups, Value(next(left))))
        else:
            columns.append({group: Value(next(left), group in form) for group in groups})
    return columns


def _joined(one: _Form, other: _Form) -> _Form:
    return None if one is None and other is None else (one or frozenset()) | (other or frozenset())


def _restacked(results: Sequence[Sequence[Any]]) -> list[Value]:
    """Makes values of the results that the members have one by one."""
    if len(results) == 1:
        return list(map(Value, results[0]))
    return [Value(jnp.stack(each), own=True) for each in zip(*results, strict=True)]


def _strong(array: Any) -> Any:
    """Leaves a loop no choice of types: those of the traced program hold."""
    if isinstance(array, jax.Array) and not getattr(array, "weak_type", False):
        return array
    return jax.lax.convert_element_type(array, jnp.result_type(array))


def _opened(program: Jaxpr | ClosedJaxpr) -> tuple[Jaxpr, Sequence[Any]]:
    return (program.jaxpr, program.consts) if isinstance(program, ClosedJaxpr) else (program, ())


def _used(jaxpr: Jaxpr) -> list[JaxprEqn]:
    """Lists the operations that something comes of."""
    needed = {id(atom) for atom in jaxpr.outvars}
    found: list[JaxprEqn] = []
    for equation in reversed(jaxpr.eqns):
        if equation.effects or any(id(out) in needed for out in equation.outvars):
            needed |= {id(atom) for atom in equation.invars}
            found.append(equation)
    return found[::-1]


def _mismatch(waiting: Mapping[int, _Meeting], ended: Sequence[int]) -> ReplicaDivergenceError:
    lines = [
        f"{meeting.equation.primitive.name} at "
        f"{_jax_internals.user_line(meeting.equation) or 'an unknown line'}"
        for meeting in waiting.values()
    ]
    where = " and ".join(dict.fromkeys(lines))
    return ReplicaDivergenceError(
        f"Replicas with different numbers of rows do not come together: some are at {where}"
        + (", others have ended" if ended else "")
        + ". A collective (all_reduce, all_gather, ...) must be reached by all replicas, equally often. Do not "
        "let it depend on x.shape[0], or on values of one replica; or drop the last batch: "
        "dataset.batch(size, drop_remainder=True)."
    )
