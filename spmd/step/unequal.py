"""Building the program for replicas with different numbers of rows, where padding would count.

The step is traced once for each number of rows that a replica has (as a rule, there are three at most: that of a
full block, the rest, and none). The traces are evaluated side by side (`lockstep`) in one plain program over the
global arrays, which XLA divides over the devices. So nothing is padded, and nothing has to ask which rows are valid.
"""

import dataclasses
import time
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun
from jax.sharding import Mesh

from spmd.errors import PaddedBatchError, SpmdError
from spmd.proof import (
    check_state_is_equal,
    check_state_keeps_shape,
    check_whole_results_are_equal,
)
from spmd.replica import BlockShapes, RowMask, Shape
from spmd.step.arguments import Arguments
from spmd.step.build import Found, Program, assemble, describe_state, find_and_trace, used_state
from spmd.step.lockstep import Column, Lockstep, Value
from spmd.step.trace import Arrays, Result, StepCode, Trace, trace_step
from spmd.topology import Layout, layout_of
from spmd.typing import Stateful

# One for each gather of values whose shapes follow from another gather; there are few.
_MAX_TRACES = 16

# Replicas that have as many rows of each batch, by these numbers.
_Groups = Mapping[tuple[int, ...], Sequence[int]]


def build_unequal(
    code: StepCode, mesh: Mesh, arguments: Arguments, state: Sequence[tuple[str, Stateful]]
) -> Program:
    """Traces a step for the rows that each replica has, and proves that it keeps replicas equal.

    The caller holds `locks.TRACING`, and has built the program for padded blocks, whose checks hold here too.

    Args:
        code: the step.
        mesh: where it runs.
        arguments: padded batches are among them.
        state: more objects that hold state, with names.

    Returns:
        The program; it takes the padded batches.

    Raises:
        PaddedBatchError: the step cannot be traced for so few rows, or replicas return what does not fit together.
        SpmdError: the step cannot be a program, and why.
    """
    layout, start = layout_of(mesh), time.perf_counter()
    groups = _groups(arguments.masks, layout.replicas)
    traces, found = _trace_each(code, mesh, arguments, state, groups)
    found.watch.freeze()
    program = _Evaluation(code, traces, groups, arguments, found, layout)
    split, masks, whole = arguments.abstract()
    avals = [
        jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in describe_state(found.table, layout)
    ]
    closed = jax.make_jaxpr(program)(avals, split, masks, whole)
    check_state_is_equal(traces[0].jaxpr, program.drifts, found.table, code.name)
    check_whole_results_are_equal(program.differing, code.name)
    size = found.table.size
    return assemble(
        code.name,
        mesh,
        arguments,
        found,
        start,
        jaxpr=traces[0].jaxpr,
        run=jaxpr_as_fun(closed),
        used=used_state(closed.jaxpr, closed.jaxpr.invars[:size]),
        results=program.results,
        result_at=[size + index for index in range(len(program.results))],
        structure=traces[0].structure,
    )


def _groups(masks: Sequence[RowMask], replicas: int) -> _Groups:
    found: dict[tuple[int, ...], list[int]] = {}
    for replica in range(replicas):
        found.setdefault(tuple(mask.counts[replica] for mask in masks), []).append(replica)
    return dict(sorted(found.items(), reverse=True))


def _trace_each(
    code: StepCode,
    mesh: Mesh,
    arguments: Arguments,
    state: Sequence[tuple[str, Stateful]],
    groups: _Groups,
) -> tuple[list[Trace], Found]:
    """Traces the program of each group; again, while they learn from each other what shapes they exchange."""
    known: list[tuple[Shape, ...]] = []
    for _ in range(_MAX_TRACES):
        blocks = [BlockShapes(known) for _ in groups]
        traces, found = _trace_once(code, mesh, arguments, state, groups, blocks)
        shapes: dict[int, list[Shape]] = {}
        for members, one in zip(groups.values(), blocks, strict=True):
            shapes |= dict.fromkeys(members, one.asked)
        # Where one asks more often than another, they do not come together; the evaluation says where.
        learned = list(zip(*(shapes[replica] for replica in sorted(shapes)), strict=False))
        if learned == known or all(len(set(every)) == 1 for every in learned):
            return traces, found
        known = learned
    raise PaddedBatchError(
        f"The step {code.name!r} would count padding, and gathers values whose shapes depend on one another "
        f"through more than {_MAX_TRACES} gathers. Drop the last batch: dataset.batch(size, drop_remainder=True)."
    )


def _trace_once(
    code: StepCode,
    mesh: Mesh,
    arguments: Arguments,
    state: Sequence[tuple[str, Stateful]],
    groups: _Groups,
    blocks: Sequence[BlockShapes],
) -> tuple[list[Trace], Found]:
    traces: list[Trace] = []
    found: Found | None = None
    for rows, shapes in zip(groups, blocks, strict=True):
        own = arguments.with_rows(rows)
        try:
            if found is None:
                trace, found = find_and_trace(code, mesh, own, state, blocks=shapes)
            else:
                with found.claim.lock():
                    trace = trace_step(code, mesh, own, found.table, blocks=shapes)
        except SpmdError:
            raise
        except Exception as error:
            raise PaddedBatchError(
                f"The step {code.name!r} would count padding, and cannot be traced for a replica with "
                f"{_in_words(rows)}: {error}\n"
                "Let it work for any number of rows, also for none; or drop the last batch: "
                "dataset.batch(size, drop_remainder=True)."
            ) from error
        check_state_keeps_shape(trace.jaxpr, trace.inputs.constants, found.table, code.name)
        if trace.structure != (traces or [trace])[0].structure:
            raise PaddedBatchError(
                f"The step {code.name!r} would count padding, and with {_in_words(rows)} on a replica it returns "
                f"{trace.structure}, but {traces[0].structure} with more. Return the same structure for any number "
                "of rows, or drop the last batch: dataset.batch(size, drop_remainder=True)."
            )
        traces.append(trace)
    assert found is not None
    return traces, found


def _in_words(rows: Sequence[int]) -> str:
    return f"{' and '.join(map(str, rows))} row{'' if tuple(rows) == (1,) else 's'}"


class _Evaluation:
    """The traces' evaluation side by side, called once, and what it says about state and results."""

    def __init__(
        self,
        code: StepCode,
        traces: Sequence[Trace],
        groups: _Groups,
        arguments: Arguments,
        found: Found,
        layout: Layout,
    ) -> None:
        self._code = code
        self._traces = traces
        self._groups = groups
        self._arguments = arguments
        self._local = found.table.local
        self._replicas = layout.replicas
        self._lockstep = Lockstep(list(groups.values()), layout.data_axes[0])
        # Of each variable: whether replicas would keep different values of it.
        self.drifts: list[bool] = []
        # How each result leaves the program; and paths to those that should be one value, and are not.
        self.results: list[Result] = []
        self.differing: list[str] = []

    def __call__(
        self, state: Arrays, split: Arrays, masks: Arrays, whole: Arrays
    ) -> list[jax.Array]:
        """Computes the new state, and the results, each of all replicas."""
        del masks  # what is left of the batches has no padding
        entries = [
            self._entry(state, split, whole, rows, members)
            for rows, members in self._groups.items()
        ]
        columns = self._lockstep.evaluate([trace.outer for trace in self._traces], entries)
        size, count = len(state), len(self._traces[0].results)
        new = [
            self._left(column, [entry[index] for entry in entries], state[index], local)
            for index, (column, local) in enumerate(zip(columns[:size], self._local, strict=True))
        ]
        return [*new, *map(self._returned, range(count), columns[size + count :])]

    def _entry(
        self,
        state: Arrays,
        split: Arrays,
        whole: Arrays,
        rows: Sequence[int],
        members: Sequence[int],
    ) -> list[Value]:
        """Makes the inputs of one group's program."""
        arguments = self._arguments
        entry = [
            Value(_picked(leaf[:, None], members), own=True) if own else Value(leaf)
            for leaf, own in zip(state, self._local, strict=True)
        ]
        for array, owner, stacked in zip(split, arguments.owners, arguments.stacked, strict=True):
            size = array.shape[0] // self._replicas
            blocks = _picked(array.reshape(self._replicas, size, *array.shape[1:]), members)
            if owner is not None:
                axis = int(stacked) + int(len(members) > 1)
                blocks = jax.lax.slice_in_dim(blocks, 0, rows[owner], axis=axis)
            entry.append(Value(blocks, own=True))
        entry += [self._lockstep.constant(np.ones(count, np.bool_)) for count in rows]
        return [*entry, *map(Value, whole)]

    def _left(
        self, column: Column, before: Sequence[Value], old: jax.Array, local: bool
    ) -> jax.Array:
        """Makes one array of what the groups leave in a variable."""
        drifts = not local and self._replicas > 1 and not self._lockstep.is_same(column)
        self.drifts.append(drifts)
        if drifts or all(column[i].array is value.array for i, value in enumerate(before)):
            return old
        return self._lockstep.stacked(column)[:, 0] if local else column[0].array

    def _returned(self, index: int, column: Column) -> jax.Array:
        """Makes one array of what the replicas return, and notes how it leaves the program."""
        results = [trace.results[index] for trace in self._traces]
        result, lockstep = results[0], self._lockstep
        common = lockstep.is_same(column)
        if not result.per_replica and not common and self._replicas > 1:
            self.differing.append(result.path)
        if not result.per_replica or (common and self._code.merges_results):
            self.results.append(dataclasses.replace(result, per_replica=False, source=None))
            return jnp.asarray(column[0].array)
        shapes = lockstep.shapes(column)
        lengths = tuple(shape[0] if shape else 0 for shape in shapes)
        source, size, uneven = _rows_of(results, lengths, self._arguments.masks), max(lengths), None
        if len({shape[1:] for shape in shapes}) > 1 or (() in shapes and len(set(shapes)) > 1):
            raise PaddedBatchError(
                f"The step {self._code.name!r} would count padding; and with the rows that there are, replicas "
                f"return {result.name} in shapes that do not fit together: {list(shapes)}. Return what has "
                "rows along its first axis only, or drop the last batch: "
                "dataset.batch(size, drop_remainder=True)."
            )
        if source is not None:
            size = self._arguments.masks[source].rows_per_replica
        elif len(set(shapes)) > 1:
            uneven = lengths
        self.results.append(
            dataclasses.replace(result, per_replica=True, source=source, lengths=uneven)
        )
        if source is not None or uneven:
            column = {
                group: Value(
                    _lengthened(value.array, lockstep.stacks(group, value), size), value.own
                )
                for group, value in column.items()
            }
        return lockstep.stacked(column)


def _rows_of(
    results: Sequence[Result], lengths: tuple[int, ...], masks: Sequence[RowMask]
) -> int | None:
    """Finds the batch whose rows a result has, in all traces."""
    (source, *others) = {result.source for result in results}
    if source is None or others or masks[source].counts != lengths:
        return None
    return source


def _picked(stacked: jax.Array, members: Sequence[int]) -> jax.Array:
    """Takes the blocks of some replicas: stacked, or the block itself if there is one."""
    first, last = members[0], members[-1]
    if len(members) == 1:
        return stacked[first]
    if last - first == len(members) - 1:
        return stacked[first : last + 1]
    return stacked[np.array(members)]


def _lengthened(array: Any, stacked: bool, size: int) -> jax.Array:
    """Appends padding to rows, so that all replicas have as many."""
    axis = int(stacked)
    array = jnp.asarray(array)
    missing = size - array.shape[axis]
    shape = (*array.shape[:axis], missing, *array.shape[axis + 1 :])
    return jnp.concatenate([array, jnp.zeros(shape, array.dtype)], axis) if missing else array
