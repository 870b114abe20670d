"""Steps that look up rows of large variables that live elsewhere: their programs take the rows, and give rows back.

A program for such a step runs in two parts. The first computes which rows the step will look up; these are fetched. The
second takes them in place of the whole variable, and what it computes to update the variable are rows, too
(`spmd.lowering.with_rows`).
"""

import dataclasses
import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr
from jax.sharding import Mesh, PartitionSpec

from spmd.lowering import Lookup, RowProgram, find_tables, with_rows
from spmd.state import Recorded, RowBacking, SparseRows, StateTable, Update, backing_of, refreshed
from spmd.step.trace import Result, Trace
from spmd.topology import layout_of, target_of
from spmd.typing import AnyArray, LibraryVariable, TreeStructure


@dataclasses.dataclass(frozen=True, eq=False)
class TableRows:
    """How a program gets the rows that it looks up.

    Attributes:
        variables: of the lookups.
        lookups: what the program needs.
        inputs: which of its inputs tell the rows.
        is_early: whether none of these is state, so that state can be fetched together with the rows.
        find: computes the numbers of the rows of these inputs.
    """

    variables: Sequence[LibraryVariable]
    lookups: Sequence[Lookup]
    inputs: Sequence[int]
    is_early: bool
    find: Callable[[Sequence[AnyArray]], Sequence[jax.Array]]

    def counted(self, state: Sequence[int], size: int) -> "TableRows":
        """Counts inputs as they are passed, when only some leaves of the state are.

        Args:
            state: which leaves, in their order.
            size: how many there are.
        """
        passed = [state.index(at) if at < size else len(state) + at - size for at in self.inputs]
        return dataclasses.replace(self, inputs=passed)

    def abstract(self, sharding: jax.sharding.NamedSharding) -> list[jax.ShapeDtypeStruct]:
        """Describes the rows as inputs of a program."""
        return [
            jax.ShapeDtypeStruct(one.shape, one.dtype, sharding=sharding) for one in self.lookups
        ]

    def fetch(
        self, inputs: Sequence[AnyArray], variables: Sequence[LibraryVariable]
    ) -> list[np.ndarray[Any, Any]]:
        """Fetches the rows; blocks until they have come.

        Args:
            inputs: those that `inputs` names.
            variables: backed ones, to refresh likewise.
        """
        numbers = list(map(np.asarray, self.find(inputs)))
        fetched: dict[int, np.ndarray[Any, Any]] = {}
        groups: dict[int, tuple[RowBacking, list[int]]] = {}
        for position, variable in enumerate(self.variables):
            backing = _rows_of(variable)
            assert backing is not None
            groups.setdefault(id(backing), (backing, []))[1].append(position)
        refreshed([one for one in variables if id(backing_of(one)) not in groups])
        for backing, positions in groups.values():
            requests = [
                (self.variables[at], np.clip(numbers[at], 0, self.lookups[at].table_shape[0] - 1))
                for at in positions
            ]
            others = [one for one in variables if backing_of(one) is backing]
            fetched.update(zip(positions, backing.look_up(requests, others), strict=True))
        for position, lookup in enumerate(self.lookups):
            size = lookup.table_shape[0]
            missing = (numbers[position] < 0) | (numbers[position] >= size)
            if lookup.fill is not None and missing.any():
                fetched[position][missing] = lookup.fill
        return [fetched[position] for position in range(len(self.lookups))]


@dataclasses.dataclass(frozen=True, eq=False)
class WithRows:
    """What becomes of a traced step that takes rows.

    Attributes:
        rows: how the program gets them.
        run: takes the state, what is split, masks, what is whole, and rows; gives the new state, then results.
        written: leaves of the state that it writes.
        read: leaves of the state that it reads.
        results: how each leaf of the result leaves it.
        structure: of the result.
    """

    rows: TableRows
    run: Callable[..., Sequence[Any]]
    written: Sequence[int]
    read: set[int]
    results: Sequence[Result]
    structure: TreeStructure


def take_rows(
    outer: ClosedJaxpr,
    mesh: Mesh,
    trace: Trace,
    table: StateTable,
    written: Sequence[int],
    results: Sequence[Result],
    lower: Callable[[ClosedJaxpr], ClosedJaxpr],
) -> WithRows | None:
    """Makes a program take rows in place of large variables, where it can.

    Args:
        outer: the program of all replicas, of which there is one.
        mesh: where it runs.
        trace: of the step.
        table: its state.
        written: leaves of the state that it writes itself; what becomes of others is told by updates.
        results: how each leaf of the result leaves it.
        lower: prepares a program for its platform.

    Returns:
        The program; None if there is no such variable.
    """
    holders = {slot.first: slot.variable for slot in table.slots if slot.count == 1}
    updates = _updates(trace.structure)
    updated, operands = {id(one.variable) for one in updates}, _operands(updates)
    size = table.size
    at = [
        size + i + (len(results) if i in operands or not result.per_replica else 0)
        for i, result in enumerate(results)
    ]
    outputs = [*written, *at]
    candidates = {i for i, one in holders.items() if _rows_of(one) and not table.local[i]}
    tables = {
        i
        for i, lookups in find_tables(outer.jaxpr, candidates, outputs).items()
        if (lookups or id(holders[i]) in updated)
        and _is_large(holders[i], outer.in_avals[i], lookups)
    }
    if not tables:
        return None
    axes = [(axis, mesh.shape[axis]) for axis in layout_of(mesh).data_axes]
    program = with_rows(outer, tables, outputs, [at[i] for i in operands], axes)
    if program is None:
        return None
    program = program.lowered(lower)
    reads, finds = program.used()
    sparse = {i for i, output in enumerate(at) if output in program.sparse}
    return WithRows(
        TableRows(
            [holders[lookup.table] for lookup in program.lookups],
            program.lookups,
            sorted(finds),
            all(i >= size for i in finds),
            jax.jit(_finding(program, mesh, sorted(finds), outer)),
        ),
        functools.partial(_run, program, mesh, len(outer.jaxpr.invars), written, size),
        written,
        {i for i in reads | finds if i < size},
        [
            one
            for i, result in enumerate(results)
            for one in _leaving(result, is_update=i in operands, is_sparse=i in sparse)
        ],
        _structure(trace.structure, sparse),
    )


def _rows_of(variable: LibraryVariable) -> RowBacking | None:
    backing = backing_of(variable)
    return backing if isinstance(backing, RowBacking) else None


def _is_large(variable: LibraryVariable, value: Any, lookups: Sequence[Lookup]) -> bool:
    backing = _rows_of(variable)
    rows = sum(lookup.count for lookup in lookups)
    return backing is not None and backing.is_table(value.shape, value.dtype, rows)


def _updates(structure: TreeStructure) -> Sequence[Update]:
    """Lists the updates in a result, with the numbers of its leaves in place of these."""
    tree = structure.unflatten(range(structure.num_leaves))
    return tree.updates if isinstance(tree, Recorded) else ()


def _operands(updates: Sequence[Update]) -> set[int]:
    """Tells which leaves of a result update a whole variable."""
    found: set[int] = set()
    for update in updates:
        if update.verb == "apply":
            found.add(jax.tree.leaves(update.operand)[0])
        elif update.verb in ("add", "subtract") and update.index is None and update.detail is None:
            found.add(update.operand)
    return found


def _structure(structure: TreeStructure, sparse: Collection[int]) -> TreeStructure:
    """Puts `SparseRows` in the place of some leaves."""
    tree = structure.unflatten(
        SparseRows(0, 0) if leaf in sparse else leaf for leaf in range(structure.num_leaves)
    )
    return jax.tree.structure(tree)


def _leaving(result: Result, *, is_update: bool, is_sparse: bool) -> list[Result]:
    whole = dataclasses.replace(result, per_replica=False, source=None) if is_update else result
    return [whole, whole] if is_sparse else [whole]


def _in_replica(function: Callable[..., Any], mesh: Mesh) -> Callable[..., Any]:
    """Runs a function of whole arrays as that of the one replica, whose axes it may name."""
    whole = PartitionSpec()
    return jax.shard_map(
        function,
        mesh=target_of(mesh),
        in_specs=whole,
        out_specs=whole,
        axis_names=set(layout_of(mesh).data_axes),
        check_vma=False,
    )


def _run(
    program: RowProgram, mesh: Mesh, count: int, kept: Sequence[int], size: int, *inputs: Any
) -> Sequence[Any]:
    found = _in_replica(program.run, mesh)(list(inputs[:count]), list(inputs[count:]))
    state: list[Any] = [None] * size
    for position, leaf in enumerate(kept):
        state[leaf] = found[position]
    return state + list(found[len(kept) :])


def _finding(
    program: RowProgram, mesh: Mesh, inputs: Sequence[int], outer: ClosedJaxpr
) -> Callable[[Sequence[AnyArray]], Sequence[jax.Array]]:
    avals = outer.in_avals

    def find_rows(given: Sequence[AnyArray]) -> Sequence[jax.Array]:
        known = dict(zip(inputs, given, strict=True))
        every = [
            known[i] if i in known else jax.numpy.zeros(aval.shape, aval.dtype)
            for i, aval in enumerate(avals)
        ]
        return _in_replica(program.find, mesh)(every)

    return find_rows
