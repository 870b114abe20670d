"""One compiled program: a step for one set of shapes.

The step's function is called once, with traced values (`trace`). Out of it comes a jaxpr, the
program of one replica. It is checked (`checks`), then compiled by XLA for all devices of the mesh.
After that, a call reads the state into a flat list, dispatches, and writes the new state back; no
Python of the user runs again.
"""

import contextlib
import dataclasses
import functools
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import jaxpr_as_fun
from jax.sharding import Mesh

from spmd.cluster import progress
from spmd.errors import BatchError, ProcessMismatchError, Remedy, StateError
from spmd.lowering import lowered, without_reductions
from spmd.proof import (
    Collective,
    check_local_state_fits,
    check_no_captured_variables,
    check_state_is_equal,
    check_state_is_there,
    check_state_keeps_shape,
    check_whole_results_are_equal,
    collectives,
    counted_padding_error,
    depends_on,
    find_counted_padding,
    varying_outputs,
)
from spmd.replica import PerReplica, RowMask
from spmd.state import StateTable, discover
from spmd.step.agreement import differing, digest, of_first_process
from spmd.step.arguments import Arguments, abstract
from spmd.step.padding import counted, with_other_padding
from spmd.step.trace import StepTracer, Trace
from spmd.topology import (
    copied,
    layout_of,
    place,
    readable,
    spans_processes,
)

# The program that ran last in this process; only this one remembers the arrays that it left behind.
_ran_last: "weakref.ref[Program] | None" = None

_LEAF = jax.tree.structure(0)


class StaleProgramError(Exception):
    """The state no longer has the shapes that a program was compiled for; the step makes another."""


class Program:
    """A step that is traced and checked for one set of shapes, and compiled when first needed.

    Examples:
        >>> import jax.numpy as jnp, spmd
        >>> step = spmd.Step(lambda: spmd.all_reduce(jnp.ones((2, 3))), spmd.make_mesh(["cpu"]))
        >>> program = step.lower()
        >>> [(c.name, c.bytes) for c in program.collectives]
        [('psum', 24)]
        >>> program.memory.output_size_in_bytes >= 24
        True
    """

    def __init__(
        self,
        function: Callable[..., Any],
        mesh: Mesh,
        arguments: Arguments,
        *,
        name: str,
        state: Sequence[tuple[str, Any]],
        per_replica: bool,
        keep_per_replica: bool,
        compiler_options: dict[str, Any] | None,
    ) -> None:
        """Traces a step and proves that it keeps replicas equal; `Step` calls this.

        Args:
            function: the step.
            mesh: where it runs.
            arguments: arrays, or descriptions of arrays.
            name: of the step, for messages.
            state: more objects that hold state, with names.
            per_replica: whether the function is one replica's, or a program of several runs.
            keep_per_replica: whether results that are equal on all replicas stay per-replica.
            compiler_options: for XLA.
        """
        self._name = name
        self._mesh = mesh
        self._compiler_options = compiler_options
        self._layout = layout_of(mesh)
        self._replicas = self._layout.replicas
        self._whole = self._layout.whole
        self._split = self._layout.rows
        self._spans = spans_processes(mesh)
        self._ran = False
        # Keeps things and fixed values alive, so that their ids stay theirs.
        self._arguments = arguments
        tracer = StepTracer(function, mesh, arguments, per_replica, name)
        found = discover(function, [*arguments.things(), *state])
        builders = found.table.builders()
        if builders:
            with contextlib.ExitStack() as stack:
                for builder in builders:
                    stack.enter_context(builder)
                tracer.build(found.table)
            found = discover(function, [*arguments.things(), *state])
        trace = tracer.trace(found.table)
        if trace.made:
            made = set(map(id, trace.made))
            found = discover(function, [*arguments.things(), *state])
            if any(id(variable) in made for variable in found.table.variables):
                # The function keeps what it made at its first call, as TensorFlow's functions may.
                trace = tracer.trace(found.table)
        table, self._watch = found.table, found.watch
        # After the trace: what the step's own code sets shall not look like a change.
        self._watch.freeze()
        self._results, self._structure = trace.results, trace.structure
        self.jaxpr = trace.jaxpr
        self._owners = [leaf.mask for leaf in arguments.leaves if leaf.how == "split"]
        self._check(trace, table, plain_results=per_replica and not keep_per_replica)
        self._check_rows(trace, table, arguments)
        self._build(trace, table, arguments)

    # What a person may look at.

    @property
    def collectives(self) -> list[Collective]:
        """The collectives of the step as it was written, with the bytes that travel."""
        return collectives(self.jaxpr)

    @property
    def stablehlo(self) -> str:
        """The program before XLA's optimisations."""
        return self._lowered.as_text()

    @property
    def hlo(self) -> str:
        """The program that XLA made; compiles it if need be."""
        return self.compile().as_text() or ""

    @property
    def memory(self) -> Any:
        """Bytes of arguments, results, temporaries and code on one device; compiles if need be."""
        return self.compile().memory_analysis()

    @property
    def cost(self) -> dict[str, float]:
        """XLA's estimate of work: `"flops"`, `"bytes accessed"`; compiles if need be."""
        return dict(self.compile().cost_analysis() or {})

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the variables that the program reads or writes."""
        return tuple(self._changed.leaf_names + self._kept.leaf_names)

    def compile(self) -> Any:
        """Compiles the program, or returns it compiled.

        Returns:
            The `jax.stages.Compiled` program.
        """
        if self._compiled is None:
            with progress.busy(f"compiles {self._name}"):
                self._compiled = self._lowered.compile(compiler_options=self._compiler_options)
        return self._compiled

    def has_replaced_state(self) -> bool:
        """Tells whether it keeps an object alive that the step's code does not lead to any more."""
        return self._watch.replaced()

    # The hot path.

    def stale_because(self) -> str | None:
        """Names what changed since the trace that the program depends on, or None."""
        return self._watch.changed()

    def dispatch(
        self, split: Sequence[jax.Array], masks: Sequence[RowMask], whole: Sequence[Any]
    ) -> Any:
        """Runs the program on arguments that it fits; does not wait for the result.

        Args:
            split: arrays that are split over the replicas.
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
        if self._spans:
            self._agree_on_run(whole)
        if self._padding is not None or self._untried:
            padded = [mask for mask in masks if mask.padded]
            if padded and self._padding is None:
                self._try_padding(split, masks, whole)
            if padded and self._padding is not None:
                raise self._padding(padded[0])
        for path, sources in self._of_several:
            self._require_equal_padding(path, [masks[index].counts for index in sources])
        try:
            self._take_in()
            changed, kept = self._last_changed, self._last_kept
            if sum(map(sys.getrefcount, changed)) > self._unshared:
                # Somebody else holds the array, and may read it after this step has donated it.
                for index, count in enumerate(map(sys.getrefcount, changed)):
                    if count > _UNSHARED:
                        changed[index] = copied(changed[index], self._changed_avals[index].sharding)
            compiled = self._compiled or self.compile()
            if self._spans:
                progress.step_started(self._number)
            new, stacked, wholes = compiled(
                changed,
                kept,
                split,
                [mask.array for mask in masks],
                [self._place(value) for value in whole] if whole else [],
            )
            if self._spans:
                progress.step_dispatched(new or stacked, wholes)
        except (RuntimeError, ValueError) as error:
            progress.step_dispatched((), ())
            # JAX's words name no variable, or the failed step had the memory of some. A lost array is a
            # RuntimeError to most of JAX, and a ValueError where an operation gets to run on it.
            for table in (self._changed, self._kept):
                check_state_is_there(table, self._name, error)
            raise
        self._ran = True
        self._changed.write(new)
        self._last_changed = new
        return self._result(stacked, wholes, masks)

    def _require_equal_padding(self, path: str, counts: Sequence[tuple[int, ...]]) -> None:
        if len(set(counts)) > 1:
            raise BatchError(
                f"The result{path and ' at ' + path} of the step {self._name!r} has an entry for "
                "each row of several batches, which are padded in different ways, so it is not clear which "
                "entries are valid. Pass them as one batch, (x, y), or return a result for each."
            )

    def _take_in(self) -> None:
        """Reads the state, and puts on the mesh what somebody else wrote."""
        self._take_over()
        if not self._kept.holds(self._last_kept):
            self._last_kept = self._adopt(self._kept.read(), self._kept_avals, self._kept)
            self._kept.write(self._last_kept)
        if not self._changed.holds(self._last_changed):
            changed = self._changed.read()
            self._last_changed = self._adopt(changed, self._changed_avals, self._changed)
            # As many references to a copy as to an array that was taken as it is: they are counted.
            self._changed.write(self._last_changed)

    def _try_padding(
        self, split: Sequence[jax.Array], masks: Sequence[RowMask], whole: Sequence[Any]
    ) -> None:
        """Runs the first padded batch on copies, with its padding and with another."""
        others: list[Any] = list(split)
        for index, owner in enumerate(self._owners):
            mask = None if owner is None else masks[owner]
            # Blocks that are stacked are results of another step, and hold what that made of padding.
            if mask is not None and mask.padded and len(split[index]) == len(mask.array):
                others[index] = with_other_padding(split[index], mask)
        if any(array is None for array in others):
            return  # with a single row there is nothing to tell; the next padded batch may have more
        self._untried = False
        self._take_in()
        compiled = self._compiled or self.compile()
        valid, rest = [mask.array for mask in masks], [self._place(value) for value in whole]

        def values(rows: Sequence[Any]) -> list[jax.Array]:
            shardings = [aval.sharding for aval in self._changed_avals]
            copies = list(map(copied, self._last_changed, shardings))
            new, stacked, wholes = compiled(copies, self._last_kept, rows, valid, rest)
            of_batch, of_all = iter(stacked), iter(wholes)
            results = [next(of_batch if one.per_replica else of_all) for one in self._results]
            return [*new, *(results[index] for index in watched)]

        watched = [index for index, one in enumerate(self._results) if one.source is None]
        names = [
            *self._changed.leaf_names,
            *(self._results[index].name for index in watched),
        ]
        before = [*self._last_changed, *([None] * len(watched))]
        wrong = counted(names, before, values(split), values(split), values(others))
        if wrong:
            self._padding = functools.partial(counted_padding_error, wrong, self._name)

    def _take_over(self) -> None:
        """Makes the program that ran before forget its arrays: held by two, they could not be donated."""
        global _ran_last
        before = None if _ran_last is None else _ran_last()
        if before is not self:
            if before is not None:
                before._forget()
            _ran_last = weakref.ref(self)

    def _forget(self) -> None:
        self._last_changed: list[Any] = [None] * self._changed.size
        self._last_kept: list[Any] = [None] * self._kept.size

    def _result(
        self, stacked: Sequence[Any], whole: Sequence[Any], masks: Sequence[RowMask]
    ) -> Any:
        if self._one_value:
            return self._read(whole[0])
        stacks, wholes = iter(stacked), iter(whole)
        leaves: list[Any] = []
        for result in self._results:
            if result.per_replica:
                mask = None if result.source is None else masks[result.source]
                leaves.append(PerReplica(next(stacks), self._replicas, stacked=True, mask=mask))
            else:
                leaves.append(self._read(next(wholes)))
        return jax.tree.unflatten(self._structure, leaves)

    def _read(self, value: jax.Array) -> jax.Array:
        return readable(value) if self._spans else value

    def _place(self, value: Any) -> Any:
        if self._spans or (isinstance(value, jax.Array) and value.sharding != self._whole):
            return place(value, self._whole)
        return value

    def _adopt(self, leaves: Sequence[Any], avals: Sequence[Any], table: StateTable) -> list[Any]:
        """Takes in values that somebody else wrote: checks them and puts them on the mesh."""
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
        if self._spans:
            self._agree_on_values(checked, foreign, table)
        return [
            copied(leaf, aval.sharding) if new else leaf
            for leaf, aval, new in zip(checked, avals, foreign, strict=True)
        ]

    def _agree_on_run(self, whole: Sequence[Any]) -> None:
        """Makes sure that all processes are about to run the same program on the same arguments."""
        mine = {}
        if not self._ran:
            mine["program"] = digest(self.stablehlo)
            self._number = int(mine["program"][:16], 16)
        mine |= {f"argument {index}": digest(value) for index, value in enumerate(whole)}
        wrong = differing(f"a call of the step {self._name!r}", mine) if mine else {}
        if wrong and "program" not in wrong:
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
        """Makes sure that what somebody wrote is the same in all processes.

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
                "values first, in a step: "
                f"{Remedy.COMBINE_VALUE.spelled()}."
            )
        different = [index for index in shared if names[index] in wrong]
        if different:
            values = of_first_process([leaves[index] for index in different], self._mesh)
            for index, value in zip(different, values, strict=True):
                leaves[index] = value

    # Checks.

    def _check(self, trace: Trace, table: StateTable, *, plain_results: bool) -> None:
        """Proves that state and results are what they have to be on all replicas."""
        check_local_state_fits(table, self._replicas, self._name)
        variables = [*table.variables, *trace.made]
        check_no_captured_variables(trace.outer, self.jaxpr, variables, self._name)
        check_state_keeps_shape(self.jaxpr, trace.inputs.constants, table, self._name)
        local, results = table.local, self._results
        varies = varying_outputs(
            self.jaxpr,
            trace.inputs.marks(state=local, split=True, masks=True),
            self._layout.data_axes,
        )
        varying = trace.of_results(varies)
        if self._replicas > 1:
            of_state = zip(trace.of_state(varies), local, strict=True)
            drifts = [flag and not own for flag, own in of_state]
            check_state_is_equal(self.jaxpr, drifts, table, self._name)
            check_whole_results_are_equal(
                [
                    flag and not result.per_replica
                    for flag, result in zip(varying, results, strict=True)
                ],
                [result.path for result in results],
                self._name,
            )
        if plain_results:
            self._results = [
                dataclasses.replace(result, per_replica=flag)
                for flag, result in zip(varying, results, strict=True)
            ]
        # The usual result of a training step: its loss.
        self._one_value = self._structure == _LEAF and not self._results[0].per_replica

    def _check_rows(self, trace: Trace, table: StateTable, arguments: Arguments) -> None:
        """Finds out what padding would count in, and whose rows results have."""
        names = [*table.leaf_names, *(result.name for result in self._results)]
        watched = [*[True] * table.size, *(result.source is None for result in self._results)]
        outputs = [index for index, watch in enumerate(watched) if watch]
        # A callback on the host would be called for batches that are none.
        self._untried = trace.inputs.masks > 0 and not trace.outer.effects
        self._padding = find_counted_padding(
            self.jaxpr,
            rows=trace.inputs.marks(split=True),
            masks=trace.inputs.marks(masks=True),
            names=[names[index] for index in outputs],
            outputs=outputs,
            step=self._name,
        )
        self._of_several: list[tuple[str, list[int]]] = []
        if trace.inputs.masks > 1:
            self._name_sources(trace, [mask.rows_per_replica for mask in arguments.masks])

    def _name_sources(self, trace: Trace, rows: Sequence[int]) -> None:
        """Finds the batch whose rows a result has, where several batches have as many."""
        depends: list[Sequence[bool]] = []
        for mask in range(len(rows)):
            of_mask = trace.inputs.marks(split=[owner == mask for owner in self._owners])
            depends.append(trace.of_results(depends_on(self.jaxpr, of_mask)))
        for index, result in enumerate(self._results):
            if result.source is None:
                continue
            fitting = [
                mask
                for mask, flags in enumerate(depends)
                if flags[index] and rows[mask] == rows[result.source]
            ]
            if fitting:
                self._results[index] = dataclasses.replace(result, source=fitting[0])
            if len(fitting) > 1:
                self._of_several.append((result.path, fitting))

    def _build(self, trace: Trace, table: StateTable, arguments: Arguments) -> None:
        size, count = table.size, len(self._results)
        inner_in = self.jaxpr.invars[trace.inputs.constants :]
        inner_out = self.jaxpr.outvars
        written = [i for i in range(size) if inner_out[i] is not inner_in[i]]
        read = {atom for equation in self.jaxpr.eqns for atom in map(id, equation.invars)}
        # A variable may be read only to be copied into another one.
        read |= {id(atom) for atom in [*(inner_out[i] for i in written), *inner_out[size:]]}
        self._changed, changed_at = table.part(written)
        used = [i for i in range(size) if i not in changed_at and id(inner_in[i]) in read]
        self._kept, kept_at = table.part(used)
        outer, layout = trace.outer, self._layout
        if self._replicas == 1:
            outer = without_reductions(outer, layout.data_axes)
        run = jaxpr_as_fun(lowered(outer, self._mesh.devices.flat[0].platform))
        stacked_at = [size + i for i, r in enumerate(self._results) if r.per_replica]
        whole_at = [size + count + i for i, r in enumerate(self._results) if not r.per_replica]
        # What the step never reads is not passed in; XLA drops the stand-in.
        state_avals = [
            abstract(jnp.asarray(leaf), layout.of_state(leaf, local=own))
            for leaf, own in zip(table.read(), table.local, strict=True)
        ]

        def program(changed: Any, kept: Any, split: Any, masks: Any, whole: Any) -> Any:
            state: dict[int, Any] = dict(zip(changed_at, changed, strict=True))
            state.update(zip(kept_at, kept, strict=True))
            flat = [state[i] if i in state else _unread(state_avals[i]) for i in range(size)]
            outs = run(*flat, *split, *masks, *whole)
            return (
                [outs[i] for i in changed_at],
                [outs[i] for i in stacked_at],
                [outs[i] for i in whole_at],
            )

        program.__name__ = program.__qualname__ = self._name
        self._changed_avals = [state_avals[i] for i in changed_at]
        self._kept_avals = [state_avals[i] for i in kept_at]
        changed_shardings = [aval.sharding for aval in self._changed_avals]
        self._lowered = jax.jit(
            program, donate_argnums=0, out_shardings=(changed_shardings, self._split, self._whole)
        ).lower(
            self._changed_avals,
            self._kept_avals,
            [abstract(leaf, self._split) for leaf in arguments.split],
            [abstract(mask.array, self._split) for mask in arguments.masks],
            [abstract(leaf, self._whole) for leaf in arguments.whole],
        )
        self._unshared = _UNSHARED * self._changed.size
        self._compiled: Any = None
        self._forget()


def _unread(aval: Any) -> jax.Array:
    if jnp.issubdtype(aval.dtype, jax.dtypes.prng_key):
        return jnp.broadcast_to(jax.random.key(0, impl=jax.random.key_impl(aval)), aval.shape)
    return jnp.zeros(aval.shape, aval.dtype)


def _count_unshared() -> int:
    """Counts the references to an array that only its variable and a program's list hold.

    Measured, not assumed, because versions of Python differ.
    """
    variable = [object()]
    changed = list(variable)
    return max(map(sys.getrefcount, changed))


_UNSHARED = _count_unshared()
