"""Building a program: a step's function is traced, and what the trace says is checked.

The function is called once, with traced values (`trace`). Out of it comes a jaxpr, the program of one
replica, which must keep all replicas equal (`spmd.proof`). A `Program` is what is known then; nothing has been
lowered or compiled.
"""

import contextlib
import dataclasses
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Jaxpr, Var, jaxpr_as_fun
from jax.sharding import Mesh, NamedSharding

from spmd.errors import PaddedBatchError, StateError
from spmd.lowering import (
    expect_program,
    library_options,
    lowered,
    threads_of_device,
    without_reductions,
)
from spmd.proof import (
    check_local_state_fits,
    check_no_captured_variables,
    check_no_leaked_values,
    check_state_is_equal,
    check_state_keeps_shape,
    check_whole_results_are_equal,
    counting_outputs,
    depends_on,
    find_counted_padding,
    gathered_padding_error,
    unlike_sizes,
    varying_outputs,
)
from spmd.replica import BlockShapes, RowMask
from spmd.state import StateTable, Watch, discover, is_backed
from spmd.step.arguments import Arguments, abstract
from spmd.step.locks import TRACING, StateClaim
from spmd.step.table_rows import TableRows, take_rows
from spmd.step.trace import (
    Arrays,
    Result,
    StepCode,
    Trace,
    adopt_state,
    trace_step,
)
from spmd.topology import Layout, is_planned, layout_of, platform_of, spans_processes
from spmd.typing import LibraryVariable, Stateful, TreeStructure

# A function may make variables only once it has others, and so on; few do.
_MAX_TRACES = 8


@dataclasses.dataclass(frozen=True, eq=False)
class Program:
    """A step, traced and checked for one set of shapes.

    Attributes:
        name: of the step, for messages.
        mesh: where it runs.
        jaxpr: the program of one replica.
        arguments: those that it was traced with; kept, so that the ids of objects among them stay theirs.
        watch: what it depends on besides its arguments.
        claim: keeps its variables in their groups.
        state: the variables that the step reaches.
        changed: the variables that it writes.
        kept: the variables that it only reads.
        changed_avals: shape, type and sharding of what is written.
        kept_avals: likewise of what is only read.
        results: how each leaf of the result leaves it.
        structure: of the result.
        padding_error: makes the error for a padded batch; None if it is proven, or not known yet, that padding
            does not count.
        tries_padding: whether that shows only when the first padded batch is run.
        counts_rows: names what is computed of the number of rows in a block; it traces the step once more, so
            it is asked when the first padded batch comes. None if padding counts anyway, or there are no rows.
        ambiguous_rows: results with an entry for each row of several batches: path, and the batches' masks.
        rows: rows of large variables that it takes after its other arguments; None if there are none.
        compiler_options: what the engine asks of XLA; the user's options take precedence.
        trace_seconds: how long tracing and checking took.
        jitted: makes the function for XLA, for a mesh; it takes what is written, what is only read, what is split,
            masks, and what is whole, rows included.
    """

    name: str
    mesh: Mesh
    jaxpr: Jaxpr
    arguments: Arguments
    watch: Watch
    claim: StateClaim
    state: StateTable
    changed: StateTable
    kept: StateTable
    changed_avals: Sequence[jax.ShapeDtypeStruct]
    kept_avals: Sequence[jax.ShapeDtypeStruct]
    results: Sequence[Result]
    structure: TreeStructure
    padding_error: Callable[[RowMask], PaddedBatchError] | None
    tries_padding: bool
    counts_rows: Callable[[], list[str]] | None
    ambiguous_rows: Sequence[tuple[str, Sequence[int]]]
    rows: TableRows | None
    compiler_options: Mapping[str, str]
    trace_seconds: float
    jitted: Callable[[Mesh], jax.stages.Wrapped]

    def lower(self, mesh: Mesh | None = None) -> jax.stages.Lowered:
        """Lowers the program to StableHLO.

        Args:
            mesh: other devices, in the shape of the program's own mesh, which it is lowered for instead. The process
                must have traced it for their platform (`spmd.topology.trace_for`).
        """
        mesh = self.mesh if mesh is None else mesh
        layout = layout_of(mesh)
        changed, kept = _on(mesh, self.changed_avals), _on(mesh, self.kept_avals)
        split, masks, whole = self.arguments.abstract(layout.rows, layout.whole)
        if self.rows is not None:
            whole = [*whole, *self.rows.abstract(layout.whole)]
        return self.jitted(mesh).lower(changed, kept, split, masks, whole)


def build(
    code: StepCode, mesh: Mesh, arguments: Arguments, state: Sequence[tuple[str, Stateful]]
) -> Program:
    """Traces a step, and proves that it keeps replicas equal. The caller holds `locks.TRACING`.

    Args:
        code: the step.
        mesh: where it runs.
        arguments: arrays, or descriptions of arrays.
        state: more objects that hold state, with names.

    Returns:
        The program.

    Raises:
        SpmdError: the step cannot be a program, and why.
    """
    layout, start = layout_of(mesh), time.perf_counter()
    trace, found = find_and_trace(code, mesh, arguments, state)
    table = found.table
    # After the trace: what the step's own code sets shall not look like a change.
    found.watch.freeze()
    results = _check(trace, table, code, layout)
    outputs = dict(enumerate(table.leaf_names))
    outputs |= {
        # What leaves as one value has no mask.
        table.size + i: result.name
        for i, result in enumerate(results)
        if result.source is None or not result.per_replica
    }
    padding_error = find_counted_padding(
        trace.jaxpr,
        rows=trace.inputs.marks(split=True),
        masks=trace.inputs.marks(masks=True),
        outputs=outputs,
        step=code.name,
    )
    if padding_error is None and trace.gathers_rows:
        padding_error = functools.partial(gathered_padding_error, code.name)
    results, ambiguous = _name_sources(trace, results, arguments)
    outer = trace.outer
    if is_planned():
        outer = _without_devices(outer)
    if layout.replicas == 1:
        outer = without_reductions(outer, layout.data_axes)
    constants, size = trace.inputs.constants, trace.inputs.state
    written, read = used_state(trace.jaxpr, trace.jaxpr.invars[constants : constants + size])
    # What becomes of backed variables is told by the updates.
    backed = table.backed()
    used = [i for i in written if i not in backed], read
    structure, rows = trace.structure, None
    # One replica's of several, or the same for all.
    result_at = [
        size + i + (0 if result.per_replica else len(results)) for i, result in enumerate(results)
    ]
    platform, compiler_options = platform_of(mesh), dict[str, str]()
    threads = threads_of_device(len(mesh.local_devices), spans_processes=spans_processes(mesh))

    def lower(program: ClosedJaxpr) -> ClosedJaxpr:
        rewritten = lowered(program, platform)
        compiler_options.update(library_options(rewritten, platform, threads))
        return rewritten

    taking = None
    if layout.replicas == 1 and is_backed(table.variables) and not is_planned():
        taking = take_rows(outer, mesh, trace, table, used[0], results, lower)
    if taking is None:
        run: Callable[..., Sequence[Any]] = jaxpr_as_fun(lower(outer))
    else:
        run, rows, used = taking.run, taking.rows, (taking.written, taking.read)
        results, structure = list(taking.results), taking.structure
        result_at = range(size, size + len(results))
    return assemble(
        code.name,
        mesh,
        arguments,
        found,
        start,
        jaxpr=trace.jaxpr,
        run=run,
        used=used,
        results=results,
        result_at=result_at,
        structure=structure,
        rows=rows,
        padding_error=padding_error,
        # A callback on the host would be called for batches that are none.
        tries_padding=trace.inputs.masks > 0 and not trace.outer.effects,
        counts_rows=None
        if padding_error is not None or not trace.inputs.masks
        else functools.partial(_counted_rows, code, mesh, arguments, found, trace),
        ambiguous_rows=ambiguous,
        compiler_options=compiler_options,
    )


@dataclasses.dataclass(frozen=True)
class Found:
    """What a step was found to reach.

    Attributes:
        table: its state.
        watch: what it depends on besides its arguments.
        claim: keeps its variables in their groups.
    """

    table: StateTable
    watch: Watch
    claim: StateClaim


def assemble(
    name: str,
    mesh: Mesh,
    arguments: Arguments,
    found: Found,
    start: float,
    *,
    jaxpr: Jaxpr,
    run: Callable[..., Sequence[Any]],
    used: tuple[Sequence[int], set[int]],
    results: Sequence[Result],
    result_at: Sequence[int],
    structure: TreeStructure,
    padding_error: Callable[[RowMask], PaddedBatchError] | None = None,
    tries_padding: bool = False,
    counts_rows: Callable[[], list[str]] | None = None,
    ambiguous_rows: Sequence[tuple[str, Sequence[int]]] = (),
    rows: TableRows | None = None,
    compiler_options: Mapping[str, str] | None = None,
) -> Program:
    """Makes a program of a function that computes the new state and the results.

    Args:
        name: of the step.
        mesh: where it runs.
        arguments: those that it was traced with.
        found: what the step reaches.
        start: when the tracing began, by `time.perf_counter`.
        jaxpr: the program of one replica.
        run: takes the state, what is split, masks and what is whole; gives the new state, and results.
        used: which leaves of the state are written, and which are read.
        results: how each leaf of the result leaves it.
        result_at: where each is among what `run` gives.
        structure: of the result.
        padding_error: see `Program`.
        tries_padding: see `Program`.
        counts_rows: see `Program`.
        ambiguous_rows: see `Program`.
        rows: see `Program`.
        compiler_options: see `Program`.
    """
    layout, table = layout_of(mesh), found.table
    written, read = used
    changed, changed_at = table.part(written)
    avals = describe_state(table, layout)
    # Random keys are passed in, read or not: nothing can stand in for them.
    keys = {i for i, aval in enumerate(avals) if jnp.issubdtype(aval.dtype, jax.dtypes.prng_key)}
    kept, kept_at = table.part((read | keys) - set(changed_at))
    if rows is not None:
        rows = rows.counted([*changed_at, *kept_at], table.size)
    return Program(
        name=name,
        mesh=mesh,
        jaxpr=jaxpr,
        arguments=arguments,
        watch=found.watch,
        claim=found.claim,
        state=table,
        changed=changed,
        kept=kept,
        changed_avals=[avals[i] for i in changed_at],
        kept_avals=[avals[i] for i in kept_at],
        results=results,
        structure=structure,
        padding_error=padding_error,
        tries_padding=tries_padding,
        counts_rows=counts_rows,
        ambiguous_rows=ambiguous_rows,
        rows=rows,
        compiler_options=compiler_options or {},
        trace_seconds=time.perf_counter() - start,
        jitted=functools.partial(
            _jitted, run, results, result_at, name, avals, changed_at, kept_at
        ),
    )


def describe_state(table: StateTable, layout: Layout) -> list[jax.ShapeDtypeStruct]:
    """Describes the leaves of the state as inputs of a program."""
    return [
        abstract(jnp.asarray(leaf), layout.of_state(leaf, local=own))
        for leaf, own in zip(table.read(), table.local, strict=True)
    ]


def find_and_trace(
    code: StepCode,
    mesh: Mesh,
    arguments: Arguments,
    state: Sequence[tuple[str, Stateful]],
    *,
    blocks: BlockShapes | None = None,
) -> tuple[Trace, Found]:
    """Finds the state, and traces the step with it; again, if the step makes variables at its first call.

    Args:
        code: the step.
        mesh: where it runs.
        arguments: arrays, or descriptions of arrays.
        state: more objects that hold state, with names.
        blocks: see `trace_step`.
    """
    trace = functools.partial(trace_step, code, mesh, arguments)

    def find() -> Found:
        table, watch = discover(code.function, [*arguments.stateful(), *state])
        return Found(table, watch, StateClaim(table))

    found = find()
    if platform_of(mesh) == "cpu" and not is_planned():
        expect_program(code.name, found.table.size)
    adopts_state = blocks is None and not is_backed(found.table.variables)
    builders = found.table.builders()
    if builders and adopts_state and not found.table.builders(adopts_state=True):
        traced, found = _trace_with_adopted_state(code, mesh, arguments, found, find)
        if traced is not None:
            return traced, found
        builders = found.table.builders()
    if builders:
        with found.claim.lock(), contextlib.ExitStack() as stack:
            for builder in builders:
                stack.enter_context(builder)
            trace(found.table, building=True)
        found = find()
    with found.claim.lock():
        traced = trace(found.table, is_first=True, blocks=blocks)
    # The function keeps what it made at its first call, as TensorFlow's functions may; and what it makes now that it has
    # that, such as slots for the weights of a model.
    for times in range(_MAX_TRACES):
        if not traced.made:
            break
        after = find()
        is_kept = _keeps(after.table, traced.made, code.name)
        if code.on_made is not None:
            code.on_made(traced.made, times > 0 or not is_kept)
        has_more = is_kept and (times == 0 or after.table.size > found.table.size)
        if not has_more and not traced.has_unsure_rows:
            break
        found = after
        if blocks is not None:
            blocks.asked.clear()
        with found.claim.lock():
            traced = trace(found.table, blocks=blocks)
    return traced, found


def _trace_with_adopted_state(
    code: StepCode, mesh: Mesh, arguments: Arguments, found: Found, find: Callable[[], Found]
) -> tuple[Trace | None, Found]:
    """Traces a step whose only unbuilt objects report the variables that they make (`Frame.making_state`).

    Returns:
        The trace, or None if the step has to be traced once more; and what the step reaches by now.
    """
    with found.claim.lock():
        traced = trace_step(code, mesh, arguments, found.table, adopts_state=True)
    if not traced.made:
        return traced, found
    after = find()
    if len(traced.adopted) == len(traced.made):
        return adopt_state(traced, mesh, arguments, found.table, after.table), after
    others = [one for one in traced.made if not any(one is other for other in traced.adopted)]
    is_kept = _keeps(after.table, others, code.name)
    if code.on_made is not None:
        code.on_made(others, not is_kept)
    return None, after


def _keeps(table: StateTable, made: Sequence[LibraryVariable], step: str) -> bool:
    """Tells whether any of the variables that a step made are among those that it reaches when it is over.

    Raises:
        StateError: the initial value of one of them is a value of the step.
    """
    ids = set(map(id, made))
    kept = [slot for slot in table.slots if id(slot.variable) in ids]
    for slot in kept:
        if any(isinstance(one, Tracer) for one in jax.tree.leaves(slot.adapter.get(slot.variable))):
            raise StateError(
                f"The initial value of {slot.name} is computed by the step {step!r}, which makes it, but the variable "
                "outlives the step. Make it before the step, as by optimizer.build(model.trainable_variables), or of a value "
                "that does not depend on the step's arguments and state."
            )
    return bool(kept)


def _counted_rows(
    code: StepCode, mesh: Mesh, arguments: Arguments, found: Found, trace: Trace
) -> list[str]:
    """Names what a step computes of the number of rows that a block has."""
    rows = [mask.rows_per_replica for mask in arguments.masks]
    is_fresh = found.watch.changed() is None
    try:
        with TRACING, found.claim.lock():
            if 1 in rows:
                # For a single row JAX makes other operations, so two longer blocks are compared.
                rows = unlike_sizes(trace.jaxpr, rows)
                trace = trace_step(code, mesh, arguments.with_rows(rows), found.table)
            longer = arguments.with_rows(unlike_sizes(trace.jaxpr, rows))
            other = trace_step(code, mesh, longer, found.table)
    except Exception:
        return []  # a function for this number of rows only has no use for any other
    finally:
        if is_fresh:
            found.watch.freeze()
    counting = counting_outputs(
        trace.outer,
        trace.jaxpr,
        other.outer,
        other.jaxpr,
        rows=trace.inputs.marks(split=True, masks=True),
        constants=trace.inputs.constants,
    )
    names = [*found.table.leaf_names, *(result.name for result in trace.results)]
    return [name for name, flag in zip(names, counting, strict=False) if flag]


def _check(trace: Trace, table: StateTable, code: StepCode, layout: Layout) -> list[Result]:
    """Proves that state and results are what they have to be on all replicas.

    Returns:
        The results, and which of them leave as one array.
    """
    jaxpr, local, results = trace.jaxpr, table.local, trace.results
    check_local_state_fits(table, layout.replicas, code.name)
    check_no_leaked_values(trace.outer, code.name)
    check_no_captured_variables(trace.outer, [*table.variables, *trace.made], code.name)
    check_state_keeps_shape(jaxpr, trace.inputs.constants, table, code.name)
    varies = varying_outputs(
        jaxpr, trace.inputs.marks(state=local, split=True, masks=True), layout.data_axes
    )
    varying = trace.of_results(varies)
    if layout.replicas > 1:
        drifts = [flag and not own for flag, own in zip(varies[: table.size], local, strict=True)]
        check_state_is_equal(jaxpr, drifts, table, code.name)
        differing = [
            result.path
            for flag, result in zip(varying, results, strict=True)
            if flag and not result.per_replica
        ]
        check_whole_results_are_equal(differing, code.name)
    if not code.merges_results:
        return results
    return [
        dataclasses.replace(result, per_replica=flag)
        for flag, result in zip(varying, results, strict=True)
    ]


def _name_sources(
    trace: Trace, results: list[Result], arguments: Arguments
) -> tuple[list[Result], list[tuple[str, Sequence[int]]]]:
    """Finds the batch whose rows a result has, where several batches have as many.

    Returns:
        The results; and path and batches of those that have the rows of several.
    """
    rows = [mask.rows_per_replica for mask in arguments.masks]
    if len(rows) < 2:
        return results, []
    fitting: list[list[int]] = [[] for _ in results]
    for mask, count in enumerate(rows):
        of_mask = trace.inputs.marks(split=[owner == mask for owner in arguments.owners])
        depends = trace.of_results(depends_on(trace.jaxpr, of_mask))
        for result, depending, masks in zip(results, depends, fitting, strict=True):
            if depending and result.source is not None and rows[result.source] == count:
                masks.append(mask)
    pairs = list(zip(results, fitting, strict=True))
    named = [
        dataclasses.replace(result, source=masks[0]) if masks else result for result, masks in pairs
    ]
    return named, [(result.path, masks) for result, masks in pairs if len(masks) > 1]


def used_state(jaxpr: Jaxpr, before: Sequence[Var]) -> tuple[list[int], set[int]]:
    """Tells which leaves of the state a program writes, and which it reads.

    Args:
        jaxpr: a program whose first outputs are the new state.
        before: its inputs that are the state.
    """
    size = len(before)
    after, results = jaxpr.outvars[:size], jaxpr.outvars[size:]
    written = [i for i in range(size) if after[i] is not before[i]]
    used = {id(atom) for equation in jaxpr.eqns for atom in equation.invars}
    # A variable may be read only to be copied into another one.
    used |= {id(atom) for atom in [*(after[i] for i in written), *results]}
    return written, {i for i in range(size) if id(before[i]) in used}


def _jitted(
    run: Callable[..., Sequence[Any]],
    results: Sequence[Result],
    result_at: Sequence[int],
    name: str,
    avals: Sequence[jax.ShapeDtypeStruct],
    changed_at: Sequence[int],
    kept_at: Sequence[int],
    mesh: Mesh,
) -> jax.stages.Wrapped:
    """Makes the function for XLA: it takes the state that is used, and returns what is new."""
    layout = layout_of(mesh)
    stacked_at = [at for at, one in zip(result_at, results, strict=True) if one.per_replica]
    whole_at = [at for at, one in zip(result_at, results, strict=True) if not one.per_replica]

    def program(
        changed: Arrays, kept: Arrays, split: Arrays, masks: Arrays, whole: Arrays
    ) -> tuple[Arrays, Arrays, Arrays]:
        state: Mapping[int, jax.Array] = {
            **dict(zip(changed_at, changed, strict=True)),
            **dict(zip(kept_at, kept, strict=True)),
        }
        # What the step never reads is not passed in; XLA drops the stand-in.
        flat = [
            state[i] if i in state else jnp.zeros(aval.shape, aval.dtype)
            for i, aval in enumerate(avals)
        ]
        outs = run(*flat, *split, *masks, *whole)
        return (
            [outs[i] for i in changed_at],
            [outs[i] for i in stacked_at],
            [outs[i] for i in whole_at],
        )

    program.__name__ = program.__qualname__ = name
    of_changed = [aval.sharding for aval in _on(mesh, [avals[i] for i in changed_at])]
    out_shardings: Any = of_changed, layout.rows, layout.whole
    return jax.jit(program, donate_argnums=0, out_shardings=out_shardings)


def _on(mesh: Mesh, avals: Sequence[jax.ShapeDtypeStruct]) -> list[jax.ShapeDtypeStruct]:
    """Describes the state over the devices of a mesh."""
    return [
        aval
        if aval.sharding.mesh == mesh
        else abstract(aval, NamedSharding(mesh, aval.sharding.spec))
        for aval in avals
    ]


def _without_devices(program: ClosedJaxpr) -> ClosedJaxpr:
    """Takes constants of a program off the devices that they lie on, which it will not run on."""
    return program.replace(
        consts=[
            np.asarray(value)
            if isinstance(value, jax.Array) and not jnp.issubdtype(value.dtype, jax.dtypes.extended)
            else value
            for value in program.consts
        ]
    )
