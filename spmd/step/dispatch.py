"""Dispatching a program: the hot path.

A call reads the state into a flat list, dispatches the program, and writes the new state back; no Python
code of the user runs. What was written is remembered, so that the next call knows it again without a look at
every array.
"""

import contextlib
import functools
import itertools
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp

from spmd.cluster import progress, schedule_pool_as_batch, start_health
from spmd.errors import BatchError, ProcessMismatchError, Remedy, StateError
from spmd.lowering import Workspace, compiling, workspace_of
from spmd.proof import check_state_is_there, counted_padding_error, counted_rows_error
from spmd.replica import PerReplica, RowMask, is_per_replica, mask_of_lengths
from spmd.state import Recorded, StateTable, backing_of, push, refreshed, times_backed
from spmd.step.agreement import differing, digest, of_first_process
from spmd.step.build import Program
from spmd.step.compilation import about_to_compile
from spmd.step.garbage import held_back
from spmd.step.locks import CLUSTER, LAUNCHING, lock_of
from spmd.step.padding import counted, valid_part, with_other_padding
from spmd.step.table_rows import TableRows
from spmd.topology import (
    copied,
    layout_of,
    log_placed,
    logs_placements,
    place,
    platform_of,
    readable,
    spans_processes,
)
from spmd.typing import AnyArray, LibraryVariable, PyTree

_LEAF = jax.tree.structure(0)


class StaleProgramError(Exception):
    """The state no longer has the shapes that a program was compiled for; the step makes another."""


class Executable:
    """A program, compiled when first needed, and the arrays that it left in its variables."""

    def __init__(self, program: Program, compiler_options: Mapping[str, str | bool] | None) -> None:
        """Prepares to run a program; nothing is lowered or compiled yet.

        Args:
            program: the program.
            compiler_options: for XLA.
        """
        self.program = program
        # Tells whether it keeps an object alive that the step's code does not lead to any more.
        self.has_replaced_state = program.watch.replaced
        self._compiler_options = None if compiler_options is None else dict(compiler_options)
        self._compiling = threading.RLock()
        self._lowered: jax.stages.Lowered | None = None
        self._compiled: jax.stages.Compiled | None = None
        self._workspace: Workspace | None = None
        self._name = program.name
        self._changed, self._kept = program.changed, program.kept
        self._results, self._ambiguous_rows = program.results, program.ambiguous_rows
        self._mask_of = functools.cache(functools.partial(mask_of_lengths, mesh=program.mesh))
        layout = layout_of(program.mesh)
        self._replicas = layout.replicas
        self._whole = layout.whole
        self._spans = spans_processes(program.mesh)
        # Processes with other numbers run other programs, which would wait for each other.
        numbers = program.arguments.static_numbers if self._spans else ()
        self._static = {f"number {i}": digest(repr(key)) for i, key in enumerate(numbers)}
        # Steps of one process of several are not the job's.
        self._health = start_health() if self._spans or jax.process_count() == 1 else None
        self._ran = False
        self._padding_error = program.padding_error
        self._tries_padding = program.tries_padding
        self._counts_rows = program.counts_rows
        # The usual result of a training step: its loss.
        self._one_value = program.structure == _LEAF and not program.results[0].per_replica
        self._groups = program.claim.groups_of(self._changed.variables + self._kept.variables)
        self._lock = lock_of([CLUSTER, *self._groups] if self._spans else self._groups)
        self._launching = LAUNCHING if program.mesh.size > 1 else threading.RLock()
        self._me: weakref.ref[object] = weakref.ref(self)
        self._unshared = _UNSHARED * self._changed.size
        self._rows = program.rows
        self._times_backed = times_backed()
        self._backed = self._backed_now()
        self.forget_arrays()

    def stale_because(self) -> str | None:
        """Names what changed since the trace that the program depends on; None if nothing did."""
        if self._times_backed != (times := times_backed()):
            if len(self._backed_now()) != len(self._backed):
                return "a variable went to parameter servers, or to other processes"
            self._times_backed = times
        return self.program.watch.changed()

    def _backed_now(self) -> list[LibraryVariable]:
        variables = (*self._kept.variables, *self._changed.variables)
        return [one for one in variables if backing_of(one) is not None]

    # Compiling; no lock of the state is held.

    @property
    def lowered(self) -> jax.stages.Lowered:
        """The program before XLA's optimisations; lowers it if need be."""
        with self._compiling:
            if self._lowered is None:
                with held_back():
                    self._lowered = self.program.lower()
            return self._lowered

    @property
    def compiled(self) -> jax.stages.Compiled:
        """The program that XLA made; compiles it if need be, which takes minutes for large models."""
        with self._compiling:
            if self._compiled is None:
                about_to_compile(self.program, self._compiler_options)
                options = {**self.program.compiler_options, **(self._compiler_options or {})}
                with progress.busy(f"compiles {self._name}"), compiling(self._name):
                    self._compiled = self.lowered.compile(compiler_options=options or None)
                mesh = self.program.mesh
                platform, devices = platform_of(mesh), len(mesh.local_devices)
                if platform == "cpu" and devices > 1:
                    schedule_pool_as_batch()
                if self._changed.size:
                    self._workspace = workspace_of(self._compiled, platform, devices)
            return self._compiled

    # The hot path.

    def dispatch(
        self, split: Sequence[AnyArray], masks: Sequence[RowMask], whole: Sequence[AnyArray]
    ) -> PyTree:
        """Runs the program on arguments that it fits; does not wait for the result.

        A large program on processors waits for the last step on the same state: it is to compute in that one's memory.

        Args:
            split: arrays that are split over the replicas; of the only replica, arrays on the host too.
            masks: valid rows of the batches among them.
            whole: arrays that every replica gets.

        Returns:
            The step's result.

        Raises:
            StaleProgramError: a variable has another shape or type by now.
            PaddedBatchError: the batch is padded, and a result would count its padding.
            StateError: the program failed with the memory of variables in its hands, or a variable
                lost its value before.
        """
        for path, sources in self._ambiguous_rows:
            self._require_equal_padding(path, [masks[index].counts for index in sources])
        if self._counts_rows is not None and any(mask.padded for mask in masks):
            self._find_counted_rows()  # before the lock: it traces
        compiled = self._compiled
        if compiled is None and not self._spans:
            self._refuse_padding(masks)
            compiled = self.compiled  # before the lock: other steps go on meanwhile
        if self._workspace is not None:
            self._await_last_step()
            self._workspace.prepare()
        with self._lock:
            if self._spans:
                self._agree_on_run(whole)
            self._refuse_padding(masks)
            if compiled is None:
                compiled = self.compiled
            if self._tries_padding and any(mask.padded for mask in masks):
                self._try_padding(compiled, split, masks, whole)
                self._refuse_padding(masks)
            try:
                valid = [mask.array for mask in masks]
                placed = [self._place(value) for value in whole] if whole else []
                rows = self._refresh_state(split, valid, placed)
                changed, kept = self._last_changed, self._last_kept
                if sum(map(sys.getrefcount, changed)) > self._unshared:
                    # Somebody else holds the array, and may read it after this step has donated it.
                    for index, count in enumerate(map(sys.getrefcount, changed)):
                        if count > _UNSHARED:
                            sharding = self.program.changed_avals[index].sharding
                            changed[index] = copied(changed[index], sharding)
                if self._spans:
                    progress.step_started(self._number)
                with self._launching:
                    new, stacked, wholes = compiled(changed, kept, split, valid, [*placed, *rows])
                if self._spans:
                    progress.step_dispatched(new or stacked, wholes)
            except (RuntimeError, ValueError) as error:
                progress.step_dispatched((), ())
                # JAX's words name no variable, or the failed step had the memory of some. A lost array is
                # a RuntimeError to most of JAX, and a ValueError where an operation gets to run on it.
                for table in (self._changed, self._kept):
                    check_state_is_there(table, self._name, error)
                raise
            self._ran = True
            self._changed.write(new)
            self._last_changed = new
            result = self._result(stacked, wholes, masks)
        if type(result) is Recorded:
            # After the lock: other steps run while the values come.
            push(jax.tree.map(_one_value, result.updates, is_leaf=is_per_replica))
            result = result.result
        if self._health is not None:
            self._health.stepped(result)
        return result

    def forget_arrays(self) -> None:
        """Lets go of the arrays that the variables held after the last run."""
        # None stands for an array until the state is read; it is no variable's value.
        self._last_changed: list[Any] = [None] * self._changed.size
        self._last_kept: list[Any] = [None] * self._kept.size

    def accept_padding(self) -> None:
        """Runs padded batches from now on, although padding may count."""
        self._padding_error = None

    def _refuse_padding(self, masks: Sequence[RowMask]) -> None:
        if self._padding_error is not None:
            for mask in masks:
                if mask.padded:
                    raise self._padding_error(mask)

    def _require_equal_padding(self, path: str, counts: Sequence[tuple[int, ...]]) -> None:
        if len(set(counts)) > 1:
            raise BatchError(
                f"The result{path and ' at ' + path} of the step {self._name!r} has an entry for "
                "each row of several batches, which are padded in different ways, so it is not clear which "
                "entries are valid. Pass them as one batch, (x, y), or return a result for each."
            )

    def _refresh_state(self, *arguments: Sequence[Any]) -> Sequence[AnyArray]:
        """Reads the state, and puts on the mesh what others wrote.

        Args:
            *arguments: what is split, masks, what is whole.

        Returns:
            The rows of large variables that the step looks up.
        """
        self._release_previous_program()
        found: Sequence[AnyArray] = ()
        if self._rows is not None and self._rows.is_early:
            found = self._fetch_rows(self._rows, arguments, self._backed)
        else:
            refreshed(self._backed)
        program = self.program
        if not self._kept.holds(self._last_kept):
            kept = self._kept.read()
            self._last_kept = self._validate_and_place(kept, program.kept_avals, self._kept)
            self._kept.write(self._last_kept)
        if not self._changed.holds(self._last_changed):
            changed = self._changed.read()
            avals = program.changed_avals
            self._last_changed = self._validate_and_place(changed, avals, self._changed)
            # As many references to a copy as to an array that was taken as it is: they are counted.
            self._changed.write(self._last_changed)
        if self._rows is not None and not self._rows.is_early:
            found = self._fetch_rows(self._rows, arguments, ())
        return found

    def _fetch_rows(
        self,
        rows: TableRows,
        arguments: Sequence[Sequence[Any]],
        variables: Sequence[LibraryVariable],
    ) -> Sequence[AnyArray]:
        every = list(itertools.chain(self._last_changed, self._last_kept, *arguments))
        return rows.fetch([every[position] for position in rows.inputs], variables)

    def _release_previous_program(self) -> None:
        """Has the program that ran before forget its arrays: held by two, they could not be donated."""
        for group in self._groups:
            if group.ran_last is not self._me:
                previous = None if group.ran_last is None else group.ran_last()
                if isinstance(previous, Executable):
                    previous.forget_arrays()
                group.ran_last = self._me

    def _await_last_step(self) -> None:
        """Waits for the last step that wrote the state, whose memory the next one is to take."""
        for group in self._groups:
            last = None if group.ran_last is None else group.ran_last()
            if isinstance(last, Executable):
                # What failed, or was donated in the meantime, is the next step's to find.
                with contextlib.suppress(RuntimeError, ValueError):
                    jax.block_until_ready(last._last_changed[:1])

    def _find_counted_rows(self) -> None:
        """Finds out, when the first padded batch comes, whether the step takes its rows for valid ones."""
        find, self._counts_rows = self._counts_rows, None
        if find is None:
            return
        with progress.busy(f"traces {self._name}"):
            names = find()
        if names:
            self._padding_error = functools.partial(counted_rows_error, names, self._name)

    def _try_padding(
        self,
        compiled: jax.stages.Compiled,
        split: Sequence[AnyArray],
        masks: Sequence[RowMask],
        whole: Sequence[AnyArray],
    ) -> None:
        """Runs the first padded batch on copies, with its padding and with another."""
        others = list(split)
        for index, owner in enumerate(self.program.arguments.owners):
            mask = None if owner is None else masks[owner]
            # Blocks that are stacked are results of another step, and hold what that made of padding.
            if mask is not None and mask.padded and len(split[index]) == len(mask.array):
                # What is padded is on the devices.
                other = with_other_padding(cast(jax.Array, split[index]), mask)
                if other is None:
                    return  # a single row shows nothing; the next padded batch may have more
                others[index] = other
        self._tries_padding = False
        valid, rest = [mask.array for mask in masks], [self._place(value) for value in whole]

        def values(rows: Sequence[AnyArray]) -> list[jax.Array]:
            fetched = self._refresh_state(rows, valid, rest)
            shardings = [aval.sharding for aval in self.program.changed_avals]
            copies = list(map(copied, self._last_changed, shardings))
            with self._launching:
                new, stacked, wholes = compiled(
                    copies, self._last_kept, rows, valid, [*rest, *fetched]
                )
            of_batch, of_all = iter(stacked), iter(wholes)
            results = [next(of_batch if one.per_replica else of_all) for one in self._results]
            return [
                *new,
                *(
                    valid_part(value, masks[one.source])
                    if one.per_replica and one.source is not None
                    else value
                    for one, value in zip(self._results, results, strict=True)
                ),
            ]

        names = [*self._changed.leaf_names, *(one.name for one in self._results)]
        self._refresh_state(split, valid, rest)
        before = [*self._last_changed, *([None] * len(self._results))]
        wrong = counted(names, before, values(split), values(split), values(others))
        if wrong:
            self._padding_error = functools.partial(counted_padding_error, wrong, self._name)

    def _result(
        self, stacked: Sequence[jax.Array], whole: Sequence[jax.Array], masks: Sequence[RowMask]
    ) -> PyTree:
        if self._one_value:
            return self._read(whole[0])
        stacks, wholes = iter(stacked), iter(whole)
        leaves: list[PerReplica | jax.Array] = []
        for result in self._results:
            if result.per_replica:
                mask = None if result.source is None else masks[result.source]
                if result.lengths is not None:
                    mask = self._mask_of(result.lengths)
                leaves.append(PerReplica(next(stacks), self._replicas, stacked=True, mask=mask))
            else:
                leaves.append(self._read(next(wholes)))
        return jax.tree.unflatten(self.program.structure, leaves)

    def _read(self, value: jax.Array) -> jax.Array:
        return readable(value) if self._spans else value

    def _place(self, value: AnyArray) -> AnyArray:
        if self._spans or (isinstance(value, jax.Array) and value.sharding != self._whole):
            return place(value, self._whole)
        return value

    def _validate_and_place(
        self, leaves: Sequence[PyTree], avals: Sequence[jax.ShapeDtypeStruct], table: StateTable
    ) -> list[jax.Array]:
        """Checks values that others wrote, and puts them on the mesh."""
        checked: list[jax.Array] = []
        for leaf, aval, name in zip(leaves, avals, table.leaf_names, strict=True):
            if jax.tree.structure(leaf) != _LEAF:
                raise StateError(
                    f"The value of {name} was an array when the step {self._name!r} was traced, and is "
                    f"now a {type(leaf).__name__}. Keep the structure of a variable's value, or make a "
                    "new variable."
                )
            leaf = leaf if isinstance(leaf, jax.Array) else jnp.asarray(leaf)
            if jnp.shape(leaf) != aval.shape or leaf.dtype != aval.dtype:
                raise StaleProgramError(
                    f"{name} changed from {aval.dtype}{list(aval.shape)} to "
                    f"{leaf.dtype}{list(jnp.shape(leaf))}"
                )
            checked.append(leaf)
        foreign = [
            not (leaf.committed and leaf.sharding == aval.sharding)
            for leaf, aval in zip(checked, avals, strict=True)
        ]
        if logs_placements():
            for leaf, aval, new, name in zip(
                checked, avals, foreign, table.leaf_names, strict=True
            ):
                if new and aval.sharding is not None:
                    log_placed(f"{name}, for {self._name}", leaf, aval.sharding)
        if self._spans:
            self._agree_on_values(checked, foreign, table)
        return [
            copied(leaf, aval.sharding) if new else leaf
            for leaf, aval, new in zip(checked, avals, foreign, strict=True)
        ]

    # Several processes.

    def _agree_on_run(self, whole: Sequence[AnyArray]) -> None:
        """Makes sure that all processes are about to run the same program on the same arguments."""
        mine: dict[str, str] = {}
        if not self._ran:
            mine["program"] = digest(self.lowered.as_text())
            self._number = int(mine["program"][:16], 16)
        mine |= {f"argument {index}": digest(value) for index, value in enumerate(whole)}
        mine |= self._static
        wrong = differing(f"a call of the step {self._name!r}", mine) if mine else {}
        # Numbers that are part of the program make programs differ, and say more.
        if wrong and ("program" not in wrong or wrong.keys() & self._static.keys()):
            raise ProcessMismatchError(
                f"The step {self._name!r} was called with different arguments in different processes, and "
                "uses them for all replicas. Pass what all processes know, or hand it to the function that "
                "the replicas run, which may get other values in other processes."
            )
        if wrong:
            raise ProcessMismatchError(
                f"The step {self._name!r} is another program in other processes: their code, the shapes of "
                "their batches, or numbers in their code differ. All processes must trace the same step; "
                "look for an `if` over the task's type or index, and for numbers drawn without a seed."
            )

    def _agree_on_values(
        self, leaves: list[jax.Array], foreign: Sequence[bool], table: StateTable
    ) -> None:
        """Makes sure that what was written between steps is the same in all processes.

        Before the first step, all take what the first process has: initial values are random. Later, a
        difference is an error: nobody can tell whose value was meant.
        """
        shared = [
            index
            for index, (new, local) in enumerate(zip(foreign, table.local, strict=True))
            if new and not local
        ]
        if not shared:
            return
        names = table.leaf_names
        mine = {names[index]: digest(leaves[index]) for index in shared}
        wrong = differing(f"values that the step {self._name!r} gets", mine)
        if wrong and self._ran:
            raise ProcessMismatchError(
                f"{', '.join(wrong)} was assigned different values in different processes, and the step "
                f"{self._name!r} needs the same in all. Assign what all processes know, or combine their "
                f"values first, in a step: {Remedy.COMBINE_VALUE.spelled()}."
            )
        different = [index for index in shared if names[index] in wrong]
        if different:
            values = of_first_process([leaves[index] for index in different], self.program.mesh)
            for index, value in zip(different, values, strict=True):
                leaves[index] = value


def _one_value(leaf: Any) -> Any:
    return leaf.values[0] if isinstance(leaf, PerReplica) else leaf


def _count_unshared() -> int:
    """Counts the references to an array that only its variable and a program's list hold.

    Measured, not assumed, because versions of Python differ.
    """
    variable = [object()]
    changed = list(variable)
    return max(map(sys.getrefcount, changed))


_UNSHARED = _count_unshared()
