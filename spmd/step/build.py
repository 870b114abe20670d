"""Building a program: a step's function is traced, and what the trace says is checked.

The function is called once, with traced values (`trace`). Out of it comes a jaxpr, the program of one
replica, which must keep all replicas equal (`spmd.proof`). A `Program` is what is known then; nothing has been
lowered or compiled.
"""

import contextlib
import dataclasses
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
from spmd.step.trace import Result, StepCode, StepTracer, Trace
from spmd.topology import Layout, layout_of
from spmd.typing import Stateful, TreeStructure

Arrays = Sequence[jax.Array]


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

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the variables that it reads or writes."""
        return (*self.changed.leaf_names, *self.kept.leaf_names)

    def lower(self) -> jax.stages.Lowered:
        """Lowers the program to StableHLO."""
        layout = layout_of(self.mesh)
        return self.jitted.lower(
            self.changed_avals,
            self.kept_avals,
            [abstract(leaf, layout.rows) for leaf in self.arguments.split],
            [abstract(mask.array, layout.rows) for mask in self.arguments.masks],
            [abstract(leaf, layout.whole) for leaf in self.arguments.whole],
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
    padding_error = find_counted_padding(
        trace.jaxpr,
        rows=trace.inputs.marks(split=True),
        masks=trace.inputs.marks(masks=True),
        names=[*table.leaf_names, *(r.name for r in results if r.source is None)],
        outputs=[
            *range(table.size),
            *(table.size + index for index, r in enumerate(results) if r.source is None),
        ],
        step=code.name,
    )
    results, ambiguous = _name_sources(trace, results, arguments)
    jitted, written, read, avals = _jitted(trace, table, results, code.name, layout)
    changed, changed_at = written
    kept, kept_at = read
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
        jitted=jitted,
    )


def _trace(
    code: StepCode, mesh: Mesh, arguments: Arguments, state: Sequence[tuple[str, Stateful]]
) -> tuple[Trace, StateTable, Watch, StateClaim]:
    """Finds the state, and traces the step with it; again, if the step makes variables at its first call."""
    tracer = StepTracer(code, mesh, arguments)

    def find() -> tuple[StateTable, Watch, StateClaim]:
        found = discover(code.function, [*arguments.stateful(), *state])
        return found.table, found.watch, StateClaim(found.table)

    table, watch, claim = find()
    builders = table.builders()
    if builders:
        with claim.lock(), contextlib.ExitStack() as stack:
            for builder in builders:
                stack.enter_context(builder)
            tracer.trace(table, building=True)
        table, watch, claim = find()
    with claim.lock():
        trace = tracer.trace(table)
    if trace.made:
        made = set(map(id, trace.made))
        table, watch, claim = find()
        if any(id(variable) in made for variable in table.variables):
            # The function keeps what it made at its first call, as TensorFlow's functions may.
            with claim.lock():
                trace = tracer.trace(table)
    return trace, table, watch, claim


def _check(trace: Trace, table: StateTable, code: StepCode, layout: Layout) -> list[Result]:
    """Proves that state and results are what they have to be on all replicas.

    Returns:
        The results, and which of them leave as one array.
    """
    jaxpr, local, results = trace.jaxpr, table.local, trace.results
    check_local_state_fits(table, layout.replicas, code.name)
    check_no_captured_variables(trace.outer, jaxpr, [*table.variables, *trace.made], code.name)
    check_state_keeps_shape(jaxpr, trace.inputs.constants, table, code.name)
    varies = varying_outputs(
        jaxpr, trace.inputs.marks(state=local, split=True, masks=True), layout.data_axes
    )
    varying = trace.of_results(varies)
    if layout.replicas > 1:
        of_state = zip(trace.of_state(varies), local, strict=True)
        drifts = [flag and not own for flag, own in of_state]
        check_state_is_equal(jaxpr, drifts, table, code.name)
        check_whole_results_are_equal(
            [
                flag and not result.per_replica
                for flag, result in zip(varying, results, strict=True)
            ],
            [result.path for result in results],
            code.name,
        )
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
    depends: list[Sequence[bool]] = []
    for mask in range(len(rows)):
        of_mask = trace.inputs.marks(split=[owner == mask for owner in arguments.owners])
        depends.append(trace.of_results(depends_on(trace.jaxpr, of_mask)))
    named: list[Result] = []
    ambiguous: list[tuple[str, Sequence[int]]] = []
    for index, result in enumerate(results):
        fitting = [
            mask
            for mask, flags in enumerate(depends)
            if result.source is not None and flags[index] and rows[mask] == rows[result.source]
        ]
        named.append(dataclasses.replace(result, source=fitting[0]) if fitting else result)
        if len(fitting) > 1:
            ambiguous.append((result.path, fitting))
    return named, ambiguous


_Part = tuple[StateTable, list[int]]


def _jitted(
    trace: Trace, table: StateTable, results: Sequence[Result], name: str, layout: Layout
) -> tuple[jax.stages.Wrapped, _Part, _Part, list[jax.ShapeDtypeStruct]]:
    """Makes the function for XLA: it takes the state that is used, and returns what is new.

    Returns:
        The function; the variables that it writes, and those that it only reads, each with the indices of
        their leaves; and a description of every leaf of the state.
    """
    size, count = table.size, len(results)
    inner_in, inner_out = trace.jaxpr.invars[trace.inputs.constants :], trace.jaxpr.outvars
    written = [i for i in range(size) if inner_out[i] is not inner_in[i]]
    read = {id(atom) for equation in trace.jaxpr.eqns for atom in equation.invars}
    # A variable may be read only to be copied into another one.
    read |= {id(atom) for atom in [*(inner_out[i] for i in written), *inner_out[size:]]}
    changed, changed_at = table.part(written)
    used = [i for i in range(size) if i not in changed_at and id(inner_in[i]) in read]
    kept, kept_at = table.part(used)
    outer = trace.outer
    if layout.replicas == 1:
        outer = without_reductions(outer, layout.data_axes)
    run = jaxpr_as_fun(lowered(outer, layout.mesh.devices.flat[0].platform))
    stacked_at = [size + i for i, r in enumerate(results) if r.per_replica]
    whole_at = [size + count + i for i, r in enumerate(results) if not r.per_replica]
    # What the step never reads is not passed in; XLA drops the stand-in.
    avals = [
        abstract(jnp.asarray(leaf), layout.of_state(leaf, local=own))
        for leaf, own in zip(table.read(), table.local, strict=True)
    ]

    def program(
        changed: Arrays, kept: Arrays, split: Arrays, masks: Arrays, whole: Arrays
    ) -> tuple[list[jax.Array], list[jax.Array], list[jax.Array]]:
        state: Mapping[int, jax.Array] = {
            **dict(zip(changed_at, changed, strict=True)),
            **dict(zip(kept_at, kept, strict=True)),
        }
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
    jitted = jax.jit(program, donate_argnums=0, out_shardings=out_shardings)
    return jitted, (changed, changed_at), (kept, kept_at), avals


def _unread(aval: jax.ShapeDtypeStruct) -> jax.Array:
    if jnp.issubdtype(aval.dtype, jax.dtypes.prng_key):
        described: Any = aval
        return jnp.broadcast_to(jax.random.key(0, impl=jax.random.key_impl(described)), aval.shape)
    return jnp.zeros(aval.shape, aval.dtype)
