"""Tracing a step: calling its function once, with traced values, to get the program of one replica.

Inputs of that program are constants, the state, what is split, masks and what is whole, in this order. Its
outputs are the new state, and the result's leaves twice: as one replica's of several, and as the same for all.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr
from jax.sharding import Mesh

from spmd.errors import Remedy, StateError
from spmd.proof import leaked_value_error, per_device_program
from spmd.replica import BlockShapes, Frame, TracedPerReplica, is_per_replica, tracing
from spmd.state import Kind, Recorded, Recorder, StateTable, adapters, is_backed, recording
from spmd.step.adopted_state import AdoptedState, with_adopted_state
from spmd.step.arguments import Arguments, abstract
from spmd.step.constants import with_constants
from spmd.step.random_keys import resolve_keys
from spmd.step.state_views import as_array, replica_state, run_in_replicas, trace_identity
from spmd.topology import layout_of, target_of
from spmd.typing import LibraryVariable, PyTree, TreeStructure

T = TypeVar("T")
Arrays: TypeAlias = Sequence[jax.Array]
# Hears of variables that a trace made, and whether every call would make them.
OnMade: TypeAlias = Callable[[Sequence[LibraryVariable], bool], None]

_TRACER_ERRORS = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


@dataclasses.dataclass(frozen=True)
class StepCode:
    """What a step does, and how its results are to leave it.

    Attributes:
        function: the user's.
        name: what messages call the step.
        in_replicas: whether each replica runs the function, on arguments of its own process; else it runs once,
            between the replicas.
        merges_results: whether a result that is equal on all replicas leaves as one array.
        on_made: called when a trace has made variables; may refuse that with an error.
        predicts: whether it computes for itself what an update makes of a backed variable, to read it afterwards.
    """

    function: Callable[..., PyTree]
    name: str
    in_replicas: bool
    merges_results: bool
    on_made: OnMade | None = None
    predicts: bool = False

    def inline(self, frame: Frame, args: Sequence[Any], kwargs: Mapping[str, Any]) -> PyTree:
        """Calls the function inside a step that is being traced."""
        if self.in_replicas:
            return run_in_replicas(frame, self.function, args, kwargs)
        return self.function(*args, **kwargs)


@dataclasses.dataclass(frozen=True)
class Result:
    """How one leaf of the result leaves a program.

    Attributes:
        per_replica: whether replicas have values of their own.
        source: the mask of the batch whose rows it has entries for, if any.
        path: to the leaf in the result.
        lengths: of each replica's value, if they differ, and not as the rows of a batch do.
    """

    per_replica: bool
    source: int | None
    path: str
    lengths: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"the result {self.path}".rstrip()


@dataclasses.dataclass(frozen=True)
class Inputs:
    """How many inputs of each sort the program of one replica has."""

    constants: int
    state: int
    split: int
    masks: int
    whole: int

    def marks(
        self,
        *,
        state: Sequence[bool] | None = None,
        split: bool | Sequence[bool] = False,
        masks: bool = False,
    ) -> list[bool]:
        """Marks some of the inputs.

        Args:
            state: which leaves of the state; None marks none.
            split: which of what is split, or all.
            masks: whether the masks.

        Returns:
            A flag for every input.
        """
        return [
            *[False] * self.constants,
            *(state or [False] * self.state),
            *([split] * self.split if isinstance(split, bool) else split),
            *[masks] * self.masks,
            *[False] * self.whole,
        ]


@dataclasses.dataclass(frozen=True)
class Trace:
    """What tracing a step left behind.

    Attributes:
        outer: the program of all replicas, with one call of `shard_map`; or of one replica alone.
        jaxpr: the program of one replica.
        inputs: how many inputs it has.
        structure: of the result.
        results: the leaves of the result.
        made: variables that the step made.
        adopted: those of them that became state: their last values are further outputs, until `adopt_state` has
            made state of them.
        gathers_rows: whether it gathers rows between replicas, padding included.
        has_unsure_rows: see `Frame`.
    """

    outer: ClosedJaxpr
    jaxpr: Jaxpr
    inputs: Inputs
    structure: TreeStructure
    results: list[Result]
    made: list[LibraryVariable]
    adopted: list[LibraryVariable]
    gathers_rows: bool
    has_unsure_rows: bool

    def of_results(self, outputs: Sequence[T]) -> Sequence[T]:
        """Picks what belongs to the result's leaves, as the same for all replicas."""
        first = self.inputs.state + len(self.results)
        return outputs[first : first + len(self.results)]


def trace_step(
    code: StepCode,
    mesh: Mesh,
    arguments: Arguments,
    table: StateTable,
    *,
    building: bool = False,
    is_first: bool = False,
    adopts_state: bool = False,
    blocks: BlockShapes | None = None,
) -> Trace:
    """Traces a step.

    Args:
        code: what the step does.
        mesh: where it runs.
        arguments: arrays, or descriptions of arrays.
        table: the state that the step found.
        building: trace for nothing but the variables that objects make when they are first used.
        is_first: see `Frame`.
        adopts_state: whether variables that are made for good become state (`adopt_state`).
        blocks: of replicas that may have different numbers of rows: trace the program of one of them. Its
            collectives are there, but it cannot run by itself (see `lockstep`).

    Returns:
        The trace.

    Raises:
        StateError: the step writes a variable that it did not find.
    """
    local = table.local
    structure = jax.tree.structure(None)
    results: list[Result] = []
    frame = Frame(
        mesh,
        table,
        functools.partial(replica_state, table),
        has_statistics=Kind.MEAN in table.kinds,
        building=building,
        is_first=is_first,
        blocks=blocks,
    )
    adopted: AdoptedState | None = None

    def body(
        state: Arrays, split: Arrays, masks: Arrays, whole: Arrays
    ) -> tuple[Arrays, Arrays, Arrays]:
        nonlocal structure, results, adopted
        if adopts_state:
            adopted = AdoptedState(table, frame.made)
            frame.making_state = adopted.making
        values = [leaf[0] if own else leaf for leaf, own in zip(state, local, strict=True)]
        with tracing(frame), table.lifted(values):
            args, kwargs = arguments.rebuild(split, whole, masks)
            if is_backed(table.variables):
                out = _recorded(code, frame, args, kwargs, building=building)
            else:
                out = code.inline(frame, args, kwargs)
            new_values = table.read()
            structure, results, leaves = _flatten_result(out, code.name)
            adopted_values = adopted.read() if adopted else []
        new_state = [
            old if new is value else new[None] if own else new
            for old, value, new, own in zip(state, values, new_values, local, strict=True)
        ]
        return new_state, [leaf[None] for leaf in leaves], [*leaves, *adopted_values]

    layout = layout_of(mesh)
    inputs = _abstract_state(table, layout.replicas), *arguments.abstract()
    try:
        with trace_identity(object()):
            if blocks is not None:
                axes = [(axis, mesh.shape[axis]) for axis in layout.data_axes]
                own = _blocks(inputs, local, layout.replicas)
                outer = jax.make_jaxpr(body, axis_env=axes)(*own)
            else:
                outer = jax.make_jaxpr(_on_replicas(body, mesh, local))(*inputs)
    except Exception as error:
        _explain(error, code.name)
        raise
    finally:
        for _, leave in frame.made:
            leave()
    sizes = list(map(len, inputs))
    if Kind.KEY in table.kinds:
        outer = outer.replace(jaxpr=resolve_keys(outer.jaxpr))
    jaxpr = outer.jaxpr if blocks is not None else per_device_program(outer)
    constants = len(jaxpr.invars) - sum(sizes)
    made = [variable for variable, _ in frame.made]
    inputs_of = Inputs(constants, *sizes)
    return Trace(
        outer,
        jaxpr,
        inputs_of,
        structure,
        results,
        made,
        adopted.variables if adopted else [],
        frame.gathers_rows,
        frame.has_unsure_rows,
    )


def adopt_state(
    trace: Trace, mesh: Mesh, arguments: Arguments, before: StateTable, after: StateTable
) -> Trace | None:
    """Rewrites the trace of a step that made state as if it had found it.

    Args:
        trace: of the step that made it.
        mesh: where the step runs.
        arguments: those that it was traced with.
        before: the state that it found at first.
        after: the state that it finds now.

    Returns:
        The trace; None if the step has to be traced again.
    """
    call, constants = trace.outer.jaxpr.eqns[-1], trace.inputs.constants
    known = dict(zip(trace.outer.jaxpr.constvars, trace.outer.consts, strict=True))
    jaxpr = trace.jaxpr
    if not trace.adopted or not all(one in known for one in call.invars[:constants]):
        return None
    program = ClosedJaxpr(
        jaxpr.replace(
            constvars=jaxpr.invars[:constants],
            invars=jaxpr.invars[constants:],
            debug_info=jaxpr.debug_info.with_unknown_names(),
        ),
        [known[one] for one in call.invars[:constants]],
    )
    run = with_adopted_state(program, trace.adopted, before, after)
    if run is None:
        return None

    def body(
        state: Arrays, split: Arrays, masks: Arrays, whole: Arrays
    ) -> tuple[Arrays, Arrays, Arrays]:
        found = run(state, [*split, *masks, *whole])
        new_state, results = found[: after.size], found[after.size :]
        return new_state, results[: len(trace.results)], results[len(trace.results) :]

    inputs = _abstract_state(after, layout_of(mesh).replicas), *arguments.abstract()
    with trace_identity(object()):
        outer = jax.make_jaxpr(_on_replicas(body, mesh, after.local))(*inputs)
    jaxpr, sizes = per_device_program(outer), list(map(len, inputs))
    return dataclasses.replace(
        trace,
        outer=outer,
        jaxpr=jaxpr,
        inputs=Inputs(len(jaxpr.invars) - sum(sizes), *sizes),
        made=[],
        adopted=[],
    )


def _on_replicas(
    body: Callable[..., PyTree], mesh: Mesh, local: Sequence[bool]
) -> Callable[..., PyTree]:
    """Maps a replica's program, of state, what is split, masks and what is whole, over all replicas."""
    layout = layout_of(mesh)
    each, one = layout.rows.spec, layout.whole.spec
    state_specs = [each if own else one for own in local]
    return jax.shard_map(
        body,
        mesh=target_of(mesh),
        in_specs=(state_specs, each, each, one),
        out_specs=(state_specs, each, one),
        axis_names=set(layout.data_axes),
        check_vma=False,
    )


def _recorded(
    code: StepCode, frame: Frame, args: Sequence[Any], kwargs: Mapping[str, Any], *, building: bool
) -> PyTree:
    """Calls the function, and adds to its result the updates of variables whose true values live elsewhere."""
    table = frame.table
    assert isinstance(table, StateTable)
    first = dict(zip(table.leaf_names, table.read(), strict=True))
    initial = {id(slot.variable): first.get(slot.name) for slot in table.slots}
    recorder = Recorder(initial, predicts=code.predicts or building)
    try:
        with recording(recorder):
            out = code.inline(frame, args, kwargs)
    finally:
        updates = recorder.close()
    return Recorded(out, updates) if updates and not building else out


def _abstract_state(table: StateTable, replicas: int) -> list[jax.ShapeDtypeStruct]:
    return [
        # Whether there are as many is checked later: the trace may show that this is not the mesh at all.
        jax.ShapeDtypeStruct((replicas, *jnp.shape(leaf)[1:]), leaf.dtype)
        if own
        else abstract(jnp.asarray(leaf))
        for leaf, own in zip(table.read(), table.local, strict=True)
    ]


def _blocks(
    inputs: Sequence[Sequence[jax.ShapeDtypeStruct]], local: Sequence[bool], replicas: int
) -> tuple[list[jax.ShapeDtypeStruct], ...]:
    """Describes what one replica gets of the inputs of all."""

    def block(aval: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((aval.shape[0] // replicas, *aval.shape[1:]), aval.dtype)

    state, split, masks, whole = inputs
    own = [block(aval) if one else aval for aval, one in zip(state, local, strict=True)]
    return own, list(map(block, split)), list(map(block, masks)), list(whole)


def _explain(error: Exception, step: str) -> None:
    """Adds to an error why code that works outside of a step fails in a trace."""
    if isinstance(error, jax.errors.UnexpectedTracerError):
        raise leaked_value_error(step, None) from error
    if isinstance(error, _TRACER_ERRORS):
        error.add_note(
            f"The step {step!r} is traced: its Python code runs once, on arrays whose values "
            "are not known yet. Python's if, while and for cannot ask for them: use "
            f"{Remedy.CONTROL_FLOW.spelled()}. Convert or keep results after "
            "the step has returned them."
        )
    if isinstance(error, jax.errors.NonConcreteBooleanIndexError):
        error.add_note(
            f"The step {step!r} is compiled for fixed shapes, but how many entries a mask selects is known only "
            "when it runs. Keep all entries, and leave those out that the mask does not select where they are "
            "reduced: sum(where(mask, x, 0)) / sum(mask) is the mean of x[mask]."
        )
    for adapter in adapters():
        what = adapter.explain(error)
        if what is not None:
            raise StateError(
                f"The step {step!r} writes {what}, which it did not find among the "
                "objects that it can reach, so the new value would be lost. "
                f"{Remedy.NAME_STATE.spelled(name='model')}."
            ) from error


def _flatten_result(out: PyTree, name: str) -> tuple[TreeStructure, list[Result], list[jax.Array]]:
    paths, structure = jax.tree_util.tree_flatten_with_path(
        with_constants(out), is_leaf=is_per_replica
    )
    results: list[Result] = []
    blocks: list[jax.Array] = []
    for path, leaf in paths:
        own = isinstance(leaf, TracedPerReplica)
        results.append(Result(own, leaf.source if own else None, jax.tree_util.keystr(path)))
        blocks.append(leaf.block if own else as_array(leaf, path, name))
    return structure, results, blocks
