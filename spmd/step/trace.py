"""Tracing a step: calling its function once, with traced values, to get the program of one replica.

Inputs of that program are constants, the state, what is split, masks and what is whole; its outputs
are the new state, the result's leaves as one of several replicas' and as the same for all, and random
keys. They stand in this order.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr
from jax.sharding import Mesh

from spmd.errors import Remedy, StateError
from spmd.proof import source_of
from spmd.replica import Frame, TracedPerReplica, is_per_replica, tracing
from spmd.state import Kind, StateTable, adapters
from spmd.step.arguments import Arguments, abstract
from spmd.step.state_views import as_array, replica_state, run_in_replicas
from spmd.topology import layout_of, num_replicas

# JAX keeps traces of functions that a step passes to jit, scan or checkpoint. They hold traced values of
# the state, so a trace of one program must not be taken for one of another.
_trace_identity = jax.make_user_context()

_TRACER_ERRORS = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    jax.errors.UnexpectedTracerError,
)


@dataclasses.dataclass(frozen=True)
class Result:
    """How one leaf of the result leaves a program.

    Attributes:
        per_replica: whether replicas have values of their own.
        source: the mask of the batch whose rows it has entries for, if any.
        path: to the leaf in the result.
    """

    per_replica: bool
    source: int | None
    path: str

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


@dataclasses.dataclass
class Trace:
    """What tracing a step left behind.

    Attributes:
        outer: the program of all replicas, with one call of `shard_map`.
        inputs: how many it has.
        structure: of the result.
        results: the leaves of the result.
        rows: for each leaf that a replica's function returned, whether it has an entry for each row.
        keys: indices of random keys that may have changed; the last outputs are their values before
            and after.
        made: variables that the step made.
    """

    outer: ClosedJaxpr
    inputs: Inputs
    structure: Any
    results: list[Result]
    rows: list[bool]
    keys: list[int]
    made: list[Any]

    @property
    def jaxpr(self) -> Jaxpr:
        """The program of one replica."""
        inner = self.outer.jaxpr.eqns[-1].params["jaxpr"]
        return inner.jaxpr if isinstance(inner, ClosedJaxpr) else inner

    def of_state(self, outputs: Sequence[Any]) -> Sequence[Any]:
        """Picks what belongs to the new state."""
        return outputs[: self.inputs.state]

    def of_results(self, outputs: Sequence[Any]) -> Sequence[Any]:
        """Picks what belongs to the result's leaves, as the same for all replicas."""
        first = self.inputs.state + len(self.results)
        return outputs[first : first + len(self.results)]


@dataclasses.dataclass(frozen=True)
class StepTracer:
    """Traces one step.

    Attributes:
        function: the step.
        mesh: where it runs.
        arguments: arrays, or descriptions of arrays.
        per_replica: whether the function is one replica's, or a program of several runs.
        name: of the step, for messages.
    """

    function: Callable[..., Any]
    mesh: Mesh
    arguments: Arguments
    per_replica: bool
    name: str

    def trace(self, table: StateTable) -> Trace:
        """Traces the step, and finds out which results have an entry for each row of a batch.

        A result that is as long as a block has rows may have so many entries by chance. With one row
        more in every block, those for rows get longer, and the others do not.

        Args:
            table: the state that the step found.

        Returns:
            The trace.

        Raises:
            StateError: the step writes a variable that it did not find.
        """
        once = functools.partial(self._once, table)
        trace = once()
        if trace.keys:
            once = functools.partial(once, keys=_unchanged_keys(trace))
            trace = once()
        if not any(trace.rows):
            return trace
        try:
            longer = once(more_rows=1).rows
        except Exception:
            # The function works for this number of rows only; then length is all there is to go by.
            return trace
        if len(longer) != len(trace.rows):
            return trace
        rows = [a and b for a, b in zip(trace.rows, longer, strict=True)]
        if rows == trace.rows:
            return trace
        return once(rows=rows)

    def build(self, table: StateTable) -> None:
        """Traces the step for nothing but the variables that objects make when they are first used.

        Args:
            table: the state that the step found.
        """
        self._once(table, building=True)

    def _once(
        self,
        table: StateTable,
        *,
        more_rows: int = 0,
        rows: list[bool] | None = None,
        keys: frozenset[int] = frozenset(),
        building: bool = False,
    ) -> Trace:
        local, arguments = table.local, self.arguments
        structure: Any = None
        results: list[Result] = []
        frame = Frame(
            self.mesh,
            table,
            lambda masks: replica_state(table, masks, frame),
            has_statistics=any(slot.kind is Kind.MEAN for slot in table.slots),
            known_rows=rows,
            known_keys=keys,
            building=building,
        )

        def body(state: Any, split: Any, masks: Any, whole: Any) -> Any:
            nonlocal structure, results
            values = [leaf[0] if own else leaf for leaf, own in zip(state, local, strict=True)]
            with tracing(frame), table.lifted(values):
                args, kwargs = arguments.rebuild(split, whole, masks)
                if self.per_replica:
                    out = run_in_replicas(frame, self.function, args, kwargs)
                else:
                    out = self.function(*args, **kwargs)
                new_values = table.read()
                structure, results, blocks = _flatten_result(out, self.name)
            new_state = [
                old if new is value else new[None] if own else new
                for old, value, new, own in zip(state, values, new_values, local, strict=True)
            ]
            changed = [key for _, before, after in frame.keys for key in (before, after)]
            return new_state, [block[None] for block in blocks], blocks, changed

        layout = layout_of(self.mesh)
        each, one = layout.rows.spec, layout.whole.spec
        state_specs = [layout.spec("local" if own else "whole") for own in local]
        step = jax.shard_map(
            body,
            mesh=self.mesh,
            in_specs=(state_specs, each, each, one),
            out_specs=(state_specs, each, one, one),
            axis_names=set(layout.data_axes),
            check_vma=False,
        )
        try:
            with _trace_identity(object()):
                outer = jax.make_jaxpr(step)(*self._abstract_inputs(table, more_rows))
        except Exception as error:
            self._explain(error)
            raise
        finally:
            for _, leave in frame.made:
                leave()
        sizes = table.size, len(arguments.split), len(arguments.masks), len(arguments.whole)
        constants = len(outer.jaxpr.eqns[-1].invars) - sum(sizes)
        return Trace(
            outer,
            Inputs(constants, *sizes),
            structure,
            results,
            frame.rows,
            [index for index, _, _ in frame.keys],
            [variable for variable, _ in frame.made],
        )

    def _abstract_inputs(self, table: StateTable, more_rows: int) -> tuple[Any, ...]:
        replicas, arguments = num_replicas(self.mesh), self.arguments
        return (
            [
                _abstract_local(leaf, replicas) if own else abstract(jnp.asarray(leaf), None)
                for leaf, own in zip(table.read(), table.local, strict=True)
            ],
            arguments.abstract_split(replicas, more_rows),
            [
                jax.ShapeDtypeStruct((replicas * (mask.rows_per_replica + more_rows),), bool)
                for mask in arguments.masks
            ],
            [abstract(leaf, None) for leaf in arguments.whole],
        )

    def _explain(self, error: Exception) -> None:
        """Says of an error what it has to do with tracing."""
        if isinstance(error, _TRACER_ERRORS):
            error.add_note(
                f"The step {self.name!r} is traced: its Python code runs once, on arrays whose values "
                "are not known yet. Python's if, while and for cannot ask for them: use "
                f"{Remedy.CONTROL_FLOW.spelled()}. Convert or keep results after "
                "the step has returned them."
            )
        for adapter in adapters():
            what = adapter.explain(error)
            if what is not None:
                raise StateError(
                    f"The step {self.name!r} writes {what}, which it did not find among the "
                    "objects that it can reach, so the new value would be lost. Pass the object "
                    "as an argument, or name it: spmd.Step(fn, mesh, state=[model])."
                ) from error


def _unchanged_keys(trace: Trace) -> frozenset[int]:
    """Finds the random keys that a step hands back as they were."""
    jaxpr = trace.jaxpr
    pairs = [source_of(jaxpr, atom) for atom in jaxpr.outvars[-2 * len(trace.keys) :]]
    changed = {
        index
        for index, before, after in zip(trace.keys, pairs[::2], pairs[1::2], strict=True)
        if before is not after
    }
    return frozenset(trace.keys) - changed


def _flatten_result(out: Any, name: str) -> tuple[Any, list[Result], list[jax.Array]]:
    paths, structure = jax.tree_util.tree_flatten_with_path(out, is_leaf=is_per_replica)
    results: list[Result] = []
    blocks: list[jax.Array] = []
    for path, leaf in paths:
        where = jax.tree_util.keystr(path)
        if isinstance(leaf, TracedPerReplica):
            results.append(Result(True, leaf.source, where))
            blocks.append(leaf.block)
        else:
            results.append(Result(False, None, where))
            blocks.append(as_array(leaf, path, name))
    return structure, results, blocks


def _abstract_local(leaf: Any, replicas: int) -> jax.ShapeDtypeStruct:
    # Whether there are as many is checked later: the trace may tell that this is not the mesh at all.
    return jax.ShapeDtypeStruct((replicas, *jnp.shape(leaf)[1:]), leaf.dtype)
