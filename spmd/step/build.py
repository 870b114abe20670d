"""Building a program: a step's function is traced, and what the trace says is checked.

The function is called once, with traced values (`trace`). Out of it comes a jaxpr, the program of one
replica, which must keep all replicas equal (`spmd.proof`). A `Program` is what is known then; nothing has been
lowered or compiled.
"""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Jaxpr, jaxpr_as_fun
from jax.sharding import Mesh

from spmd.errors import PaddedBatchError
from spmd.lowering import lowered, without_reductions
from spmd.proof import (
    check_local_state_fits,
    check_no_captured_variables,
    check_state_is_equal,
    check_state_keeps_shape,
    check_whole_results_are_equal,
    depends_on,
    find_counted_padding,
    varying_outputs,
)
from spmd.replica import RowMask
from spmd.state import StateTable, Watch, discover
from spmd.step.arguments import Arguments, abstract
from spmd.step.locks import StateClaim
from spmd.step.trace import Arrays, Result, StepCode, Trace, trace_step
from spmd.topology import Layout, layout_of
from spmd.typing import Stateful, TreeStructure


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
        changed: the variables that it writes.
        kept: the variables that it only reads.
        changed_avals: shape, type and sharding of what is written.
        kept_avals: likewise of what is only read.
        results: how each leaf of the result leaves it.
        structure: of the result.
        padding_error: makes the error for a padded batch; None if it is proven, or not known yet, that padding
            does not count.
        tries_padding: whether that shows only when the first padded batch is run.
        ambiguous_rows: results with an entry for each row of several batches: path, and the batches' masks.
        jitted: takes what is written, what is only read, what is split, masks, and what is whole.
    """

    name: str
    mesh: Mesh
    jaxpr: Jaxpr
    arguments: Arguments
    watch: Watch
    claim: StateClaim
    changed: StateTable
    kept: StateTable
    changed_avals: Sequence[jax.ShapeDtypeStruct]
    kept_avals: Sequence[jax.ShapeDtypeStruct]
    results: Sequence[Result]
    structure: TreeStructure
    padding_error: Callable[[RowMask], PaddedBatchError] | None
    tries_padding: bool
    ambiguous_rows: Sequence[tuple[str, Sequence[int]]]
    jitted: jax.stages.Wrapped

    def lower(self) -> jax.stages.Lowered:
        """Lowers the program to StableHLO."""
        layout = layout_of(self.mesh)
        return self.jitted.lower(
            self.changed_avals, self.kept_avals, *self.arguments.abstract(layout.rows, layout.whole)
        )


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
    layout = layout_of(mesh)
    trace, table, watch, claim = _trace(code, mesh, arguments, state)
    # After the trace: what the step's own code sets shall not look like a change.
    watch.freeze()
    results = _check(trace, table, code, layout)
    outputs = dict(enumerate(table.leaf_names))
    outputs |= {table.size + i: r.name for i, r in enumerate(results) if r.source is None}
    padding_error = find_counted_padding(
        trace.jaxpr,
        rows=trace.inputs.marks(split=True),
        masks=trace.inputs.marks(masks=True),
        outputs=outputs,
        step=code.name,
    )
    results, ambiguous = _name_sources(trace, results, arguments)
    written, read = _used_state(trace)
    changed, changed_at = table.part(written)
    kept, kept_at = table.part(read - set(changed_at))
    avals = [
        abstract(jnp.asarray(leaf), layout.of_state(leaf, local=own))
        for leaf, own in zip(table.read(), table.local, strict=True)
    ]
    return Program(
        name=code.name,
        mesh=mesh,
        jaxpr=trace.jaxpr,
        arguments=arguments,
        watch=watch,
        claim=claim,
        changed=changed,
        kept=kept,
        changed_avals=[avals[i] for i in changed_at],
        kept_avals=[avals[i] for i in kept_at],
        results=results,
        structure=trace.structure,
        padding_error=padding_error,
        # A callback on the host would be called for batches that are none.
        tries_padding=trace.inputs.masks > 0 and not trace.outer.effects,
        ambiguous_rows=ambiguous,
        jitted=_jitted(trace, results, code.name, layout, avals, changed_at, kept_at),
    )


def _trace(
    code: StepCode, mesh: Mesh, arguments: Arguments, state: Sequence[tuple[str, Stateful]]
) -> tuple[Trace, StateTable, Watch, StateClaim]:
    """Finds the state, and traces the step with it; again, if the step makes variables at its first call."""
    trace = functools.partial(trace_step, code, mesh, arguments)

    def find() -> tuple[StateTable, Watch, StateClaim]:
        table, watch = discover(code.function, [*arguments.stateful(), *state])
        return table, watch, StateClaim(table)

    table, watch, claim = find()
    builders = table.builders()
    if builders:
        with claim.lock(), contextlib.ExitStack() as stack:
            for builder in builders:
                stack.enter_context(builder)
            trace(table, building=True)
        table, watch, claim = find()
    with claim.lock():
        found = trace(table)
    if found.made:
        made = set(map(id, found.made))
        table, watch, claim = find()
        if any(id(variable) in made for variable in table.variables):
            # The function keeps what it made at its first call, as TensorFlow's functions may.
            with claim.lock():
                found = trace(table)
    return found, table, watch, claim


def _check(trace: Trace, table: StateTable, code: StepCode, layout: Layout) -> list[Result]:
    """Proves that state and results are what they have to be on all replicas.

    Returns:
        The results, and which of them leave as one array.
    """
    jaxpr, local, results = trace.jaxpr, table.local, trace.results
    check_local_state_fits(table, layout.replicas, code.name)
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


def _used_state(trace: Trace) -> tuple[list[int], set[int]]:
    """Returns which leaves of the state a step writes, and which it reads."""
    constants, size = trace.inputs.constants, trace.inputs.state
    before = trace.jaxpr.invars[constants : constants + size]
    after, results = trace.jaxpr.outvars[:size], trace.jaxpr.outvars[size:]
    written = [i for i in range(size) if after[i] is not before[i]]
    used = {id(atom) for equation in trace.jaxpr.eqns for atom in equation.invars}
    # A variable may be read only to be copied into another one.
    used |= {id(atom) for atom in [*(after[i] for i in written), *results]}
    return written, {i for i in range(size) if id(before[i]) in used}


def _jitted(
    trace: Trace,
    results: Sequence[Result],
    name: str,
    layout: Layout,
    avals: Sequence[jax.ShapeDtypeStruct],
    changed_at: Sequence[int],
    kept_at: Sequence[int],
) -> jax.stages.Wrapped:
    """Makes the function for XLA: it takes the state that is used, and returns what is new."""
    size, count = trace.inputs.state, len(results)
    outer = trace.outer
    if layout.replicas == 1:
        outer = without_reductions(outer, layout.data_axes)
    run = jaxpr_as_fun(lowered(outer, layout.mesh.devices.flat[0].platform))
    stacked_at = [size + i for i, r in enumerate(results) if r.per_replica]
    whole_at = [size + count + i for i, r in enumerate(results) if not r.per_replica]

    def program(
        changed: Arrays, kept: Arrays, split: Arrays, masks: Arrays, whole: Arrays
    ) -> tuple[Arrays, Arrays, Arrays]:
        state: Mapping[int, jax.Array] = {
            **dict(zip(changed_at, changed, strict=True)),
            **dict(zip(kept_at, kept, strict=True)),
        }
        # What the step never reads is not passed in; XLA drops the stand-in.
        flat = [state[i] if i in state else _unread(avals[i]) for i in range(size)]
        outs = run(*flat, *split, *masks, *whole)
        return (
            [outs[i] for i in changed_at],
            [outs[i] for i in stacked_at],
            [outs[i] for i in whole_at],
        )

    program.__name__ = program.__qualname__ = name
    of_changed = [avals[i].sharding for i in changed_at]
    out_shardings: Any = of_changed, layout.rows, layout.whole
    return jax.jit(program, donate_argnums=0, out_shardings=out_shardings)


def _unread(aval: jax.ShapeDtypeStruct) -> jax.Array:
    if jnp.issubdtype(aval.dtype, jax.dtypes.prng_key):
        described: Any = aval
        return jnp.broadcast_to(jax.random.key(0, impl=jax.random.key_impl(described)), aval.shape)
    return jnp.zeros(aval.shape, aval.dtype)
