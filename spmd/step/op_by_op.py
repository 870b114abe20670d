"""Steps that run op by op, each replica in turn, for debugging: breakpoints stop in them, and prints show numbers.

Nothing is traced or compiled. Each replica calls the step's function with arrays of its own, on one device, and the rows
that it really has; Python's `if` and `for` see values. Where replicas exchange values they take turns (`replica_threads`),
and each has a copy of the state (`replica_copies`). Copies of mirrored state must be equal when all have run, as in a
compiled step.
"""

import contextlib
import contextvars
import dataclasses
import functools
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh

from spmd.assigned import assigned
from spmd.errors import MeshError, StepOutputError
from spmd.proof import check_local_state_fits, diverged_error
from spmd.replica import BlockMask, Frame, PerReplica, RowMask, stack_replicas, tracing
from spmd.state import (
    Kind,
    Recorder,
    StateTable,
    Update,
    adapters,
    discover,
    is_backed,
    push,
    recording,
    refreshed,
)
from spmd.step.arguments import Arguments, is_argument, take_apart
from spmd.step.locks import StateClaim
from spmd.step.replica_copies import ReplicaCopies, equal, unplaced
from spmd.step.replica_threads import ReplicaThreads
from spmd.step.state_views import as_array
from spmd.step.trace import StepCode
from spmd.topology import layout_of, place, spans_processes
from spmd.typing import PyTree, Stateful

State = Sequence[tuple[str, Stateful]]

_SETTING = [False]
# Told when the setting changes.
_LISTENERS: "weakref.WeakSet[Any]" = weakref.WeakSet()


@dataclasses.dataclass(frozen=True)
class _Between:
    """A step between the replicas that runs op by op.

    Attributes:
        mesh: where it would run.
        state: more objects that hold state.
    """

    mesh: Mesh
    state: State


_BETWEEN: contextvars.ContextVar[_Between | None] = contextvars.ContextVar(
    "spmd_between", default=None
)


def run_op_by_op(enabled: bool) -> None:
    """Runs all steps op by op, each replica in turn, or as compiled programs again.

    For debugging: `breakpoint()` and `print` in a step see numbers. Replica 0 runs in the thread of the caller, the others
    in threads of their own, and only one at a time. This is as slow as it sounds: no two replicas run at once, and each
    operation is dispatched by itself.

    Args:
        enabled: whether to.

    Examples:
        >>> import numpy as np, spmd
        >>> mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
        >>> def shown(x):
        ...     print(spmd.replica_id(), x, spmd.all_reduce(x.sum()))
        >>> (batch,) = spmd.distribute(np.arange(4), mesh, batch_size=4)
        >>> run_op_by_op(True)
        >>> spmd.Step(shown, mesh)(batch)
        0 [0 1] 6
        1 [2 3] 6
        >>> run_op_by_op(False)

    Source: `tf.config.run_functions_eagerly`.
    """
    _SETTING[0] = bool(enabled)
    for listener in list(_LISTENERS):
        listener.forget_shortcut()


def runs_op_by_op() -> bool:
    """Tells whether steps that are called here run op by op; see `run_op_by_op`."""
    return _SETTING[0] or _BETWEEN.get() is not None


def on_setting(listener: Any) -> None:
    """Has the method `forget_shortcut` of an object called whenever the setting changes."""
    _LISTENERS.add(listener)


def current_step() -> tuple[Mesh, State] | None:
    """Returns mesh and state of the step between the replicas that is running op by op, if one is."""
    here = _BETWEEN.get()
    return None if here is None else (here.mesh, here.state)


def call_op_by_op(
    code: StepCode, mesh: Mesh, state: State, args: Sequence[PyTree], kwargs: Mapping[str, PyTree]
) -> PyTree:
    """Calls a step op by op.

    Args:
        code: what the step does.
        mesh: whose replicas take turns.
        state: more objects that hold state, with names.
        args: positional arguments, as for a step.
        kwargs: keyword arguments, likewise.

    Returns:
        What the compiled step would return. But without a proof, a result counts as one value if it is equal on all
        replicas.

    Raises:
        MeshError: the mesh spans several processes.
        ReplicaDivergenceError: a variable would differ between replicas.
        ReplicaContextError: replicas come to different collectives, or to one that JAX traces.
        StepOutputError: replicas return what is no array, or differ in structure.
    """
    if spans_processes(mesh):
        raise MeshError(
            f"The step {code.name!r} runs on the devices of several processes, and cannot run op by op: a replica would "
            "have to wait for those of other processes. Debug it in one process, on simulated devices: "
            "spmd.simulate_devices(4) before anything else, and a mesh of these."
        )
    if code.in_replicas:
        return _Run(code, mesh, state).call(args, kwargs)
    with assigned(_BETWEEN, _Between(mesh, state)):
        return code.function(*args, **kwargs)


class _Run:
    """One call of a step on each replica."""

    def __init__(self, code: StepCode, mesh: Mesh, state: State) -> None:
        self._code, self._mesh, self._state = code, mesh, state
        self._layout = layout_of(mesh)

    def call(self, args: Sequence[PyTree], kwargs: Mapping[str, PyTree]) -> PyTree:
        parts = take_apart(args, kwargs, self._mesh)
        state = [*parts.stateful(), *self._state]
        table, _ = discover(self._code.function, state)
        check_local_state_fits(table, self._layout.replicas, self._code.name)
        claim = StateClaim(table)  # held for as long as the variables are in use
        with claim.lock(), _on_one_device(self._mesh):
            refreshed(table.variables)
            leaves = jax.tree.leaves((tuple(args), dict(kwargs)), is_leaf=is_argument)
            results, copies, updates = self._run(table, parts, leaves)
            if copies.end():
                discover(self._code.function, state)  # marks what layers have made
            has_rows = [
                not parts.masks or any(mask.counts[replica] for mask in parts.masks)
                for replica in range(self._layout.replicas)
            ]
            joined, diverged = copies.join(has_rows)
            if diverged:
                (table, _), bad = diverged[0], [i for one, i in diverged if one is diverged[0][0]]
                raise diverged_error(bad, table, self._code.name)
            result = self._result(results)
            if updates and self._layout.replicas > 1:
                moved = copies.moved(joined)
                updates = [one for one in updates if all(one.variable is not v for v, _ in moved)]
                updates += [Update(variable, "add", by) for variable, by in moved]
            copies.write(joined)
        push(updates)
        return result

    def _run(
        self, table: StateTable, parts: Arguments, leaves: Sequence[Any]
    ) -> tuple[list[PyTree], ReplicaCopies, list[Update]]:
        """Runs the function of each replica; the variables hold afterwards what they did before.

        Returns:
            The results, the replicas' copies of the state, and what the first replica does to variables whose true
            values live elsewhere.
        """
        replicas, updates = self._layout.replicas, list[Update]()
        frame = Frame(
            self._mesh,
            table,
            lambda masks: contextlib.nullcontext(),
            has_statistics=Kind.MEAN in table.kinds,
        )
        with tracing(frame):
            copies = ReplicaCopies(table, self._layout)
            blocks = [self._blocks(parts, leaves, replica) for replica in range(replicas)]
            # Of each replica: the masks of its batches, and whether it has stepped out of itself.
            places: list[tuple[list[BlockMask] | None, bool]] = [
                (masks, False) for _, masks in blocks
            ]

            def switch(last: int, following: int) -> None:
                copies.leave(last)
                places[last] = frame.masks, frame.merging
                copies.enter(following)
                frame.masks, frame.merging = places[following]

            def recorded(replica: int) -> PyTree:
                if not is_backed(table.variables):
                    return call(replica)
                first = table.read()
                initial = {id(slot.variable): first[slot.first] for slot in table.slots}
                recorder = Recorder(initial, predicts=True)
                try:
                    with recording(recorder):
                        return call(replica)
                finally:
                    found = recorder.close()
                    if not replica:
                        updates.extend(found)

            def call(replica: int) -> PyTree:
                own_args, own_kwargs = parts.structure.unflatten(blocks[replica][0])
                try:
                    return self._code.function(*own_args, **own_kwargs)
                except NameError as error:
                    if "unbound axis name" in str(error):
                        error.add_note(
                            "Collectives of jax.lax need a compiled step. In one that runs op by op, call those of "
                            "spmd, such as spmd.all_reduce(value)."
                        )
                    raise

            turns = ReplicaThreads(replicas, switch, copies.adopt, _thread_context(self._mesh))
            codes = [functools.partial(recorded, replica) for replica in range(replicas)]
            with table.lifted(table.read()):
                with table.in_replica():
                    frame.turns = turns
                    copies.enter(0)
                    frame.masks = places[0][0]
                    try:
                        results = turns.run(codes)
                    except BaseException:
                        copies.end()
                        raise
                    finally:
                        frame.masks, frame.turns = None, None
                copies.leave(turns.index)
        return results, copies, updates

    def _blocks(
        self, parts: Arguments, leaves: Sequence[Any], replica: int
    ) -> tuple[list[Any], list[BlockMask]]:
        """Makes the leaves of a replica's arguments: of batches, the rows that it has."""
        own: list[Any] = []
        of_mask: dict[int, tuple[RowMask, list[Any]]] = {}
        for leaf, value in zip(parts.leaves, leaves, strict=True):
            if leaf.role == "whole":
                value = unplaced(value)
            elif leaf.role == "split":
                assert isinstance(value, PerReplica)
                mask, value = value.mask, unplaced(value[replica])
                if mask is not None:
                    of_mask.setdefault(id(mask), (mask, []))[1].append(value)
            own.append(value)
        masks = [
            BlockMask(jnp.ones(mask.counts[replica], jnp.bool_), tuple(blocks))
            for mask, blocks in of_mask.values()
        ]
        return own, masks

    def _result(self, results: Sequence[PyTree]) -> PyTree:
        """Makes one result of those of all replicas."""
        name = self._code.name
        flat = [jax.tree_util.tree_flatten_with_path(result) for result in results]
        structures = [structure for _, structure in flat]
        for replica, structure in enumerate(structures):
            if structure != structures[0]:
                raise StepOutputError(
                    f"The step {name!r} returned {structures[0]} on replica 0, but {structure} on replica {replica}. "
                    "Return the same structure on all replicas."
                )
        columns = zip(*(leaves for leaves, _ in flat), strict=True)
        return structures[0].unflatten(
            self._leaf([as_array(leaf, path, name) for path, leaf in column]) for column in columns
        )

    def _leaf(self, values: Sequence[jax.Array]) -> PyTree:
        if self._code.merges_results and equal(values):
            return place(values[0], self._layout.whole)
        return stack_replicas(values, self._mesh)


@contextlib.contextmanager
def _on_one_device(mesh: Mesh) -> Generator[None]:
    """Puts arrays on the first device of a mesh, unless something else is said."""
    with jax.default_device(mesh.devices.flat[0]):
        yield


def _thread_context(mesh: Mesh) -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Returns what sets another thread up as this one: its libraries, and what JAX keeps for each thread."""
    set_up = [adapter.on_thread() for adapter in adapters()]
    x64 = bool(jax.enable_x64.value)
    jit = bool(jax.config.jax_disable_jit)  # pyright: ignore[reportAttributeAccessIssue]

    @contextlib.contextmanager
    def context() -> Generator[None]:
        for each in set_up:
            each()
        with _on_one_device(mesh), jax.enable_x64(x64), jax.disable_jit(jit):
            yield

    return context
