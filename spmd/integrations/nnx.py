"""Flax NNX state in a step. The one file that touches Flax internals.

NNX guards its objects: a variable or module made outside of a trace refuses changes inside it. While a step is
traced, the guards of lifted objects are set to its trace. tests/spmd/integrations/test_nnx.py runs this on every supported version. Internals:
`Variable._raw_value`, `Variable._trace_state`, `Pytree._pytree__state._trace_state`,
`flax.nnx.tracers.TraceState`, `flax.nnx.tracers.current_jax_trace`.
"""

import contextlib
import operator
import traceback
from collections.abc import Generator, Iterable, Sequence
from typing import Any

import jax
import optax
from flax import errors, nnx
from flax.nnx import tracers

from spmd._jax_internals import trace_state
from spmd.errors import StateError
from spmd.replica import sum_gradients, sums_by_itself
from spmd.state import Adapter, Kind, Role, Watch, register_adapter
from spmd.typing import LibraryVariable, PyTree, Stateful

# A recording (spmd.recording) is no transformation: NNX need not guard objects from it.
tracers.current_jax_trace = trace_state

_CHANGED_IN_LAYERS = frozenset({"deterministic", "use_running_average", "rate", "tx"})


class NnxAdapter(Adapter):
    """How Flax NNX modules, optimizers, metrics and random streams hold state."""

    # C functions, far quicker than get_raw_value() and set_raw_value().
    get = operator.attrgetter("_raw_value")
    set = nnx.Variable.__dict__["_raw_value"].__set__

    def owns(self, thing: object) -> bool:
        return isinstance(thing, (nnx.Pytree, nnx.Variable))

    def is_variable(self, thing: object) -> bool:
        return isinstance(thing, nnx.Variable)

    def variables(self, thing: Stateful) -> Iterable[tuple[str, LibraryVariable]]:
        if isinstance(thing, nnx.Variable):
            return [("", thing)]
        return [
            (_dotted(path), node)
            for path, node in nnx.iter_graph(thing)
            if isinstance(node, nnx.Variable)
        ]

    def kind(self, variable: LibraryVariable) -> Kind:
        if isinstance(variable, nnx.BatchStat):
            return Kind.MEAN
        if isinstance(variable, nnx.metrics.MetricState):
            return Kind.SUM
        if isinstance(variable, nnx.RngKey):
            return Kind.KEY
        return Kind.MIRRORED

    def roles(
        self, variables: Sequence[LibraryVariable], things: Sequence[Stateful]
    ) -> Sequence[Role]:
        return list(map(_role, variables))

    @contextlib.contextmanager
    def lifted(
        self, things: Sequence[Stateful], variables: Sequence[LibraryVariable]
    ) -> Generator[None]:
        nodes = _nodes(things)
        for node in nodes:
            if isinstance(node, nnx.metrics.Welford):
                raise StateError(
                    "nnx.metrics.Welford cannot be summed over replicas: its mean and variance are "
                    "not sums. Use nnx.metrics.Average of the value and of its square."
                )
        dicts = [(node, dict(vars(node))) for node in nodes]
        states: list[Any] = [vars(node)["_pytree__state"] for node in nodes]
        guards: list[Any] = [*states, *variables]
        traces = [guard._trace_state for guard in guards]
        here = tracers.TraceState()
        done = False
        try:
            for guard in guards:
                object.__setattr__(guard, "_trace_state", here)
            yield
            done = True
        finally:
            added = _added_state(dicts) if done else []
            for node, attributes in dicts:
                if not done or added:
                    vars(node).clear()
                    vars(node).update(attributes)
            for node, state in zip(nodes, states, strict=True):
                # NNX transformations in the step may have put another guard in its place.
                vars(node)["_pytree__state"] = state
            for guard, trace in zip(guards, traces, strict=True):
                object.__setattr__(guard, "_trace_state", trace)
        if added:
            raise StateError(
                f"The step added {', '.join(added)}, which did not exist before it. State of a step "
                "must exist before the first call: make it there, or take it out again in the step "
                "(nnx.pop) and return it."
            )

    @contextlib.contextmanager
    def in_replica(self, things: Sequence[Stateful]) -> Generator[None]:
        optimizers = [node for node in _nodes(things) if isinstance(node, nnx.Optimizer)]
        before = [vars(optimizer)["tx"] for optimizer in optimizers]
        try:
            for optimizer, tx in zip(optimizers, before, strict=True):
                vars(optimizer)["tx"] = _with_sum(tx)
            yield
        finally:
            for optimizer, tx in zip(optimizers, before, strict=True):
                vars(optimizer)["tx"] = tx

    def watch(self, things: Sequence[Stateful], watch: Watch) -> None:
        for node in _nodes(things):
            attributes = vars(node)
            own = type(node).__module__.startswith("flax.")
            if not own or isinstance(node, (nnx.List, nnx.Dict)):
                watch.all_items(attributes)
                continue
            # Of Flax's layers, what people change: modes, rates, parameters, optimizers. Watching sizes and
            # initializers, too, would cost more than all the rest.
            for key, value in attributes.items():
                if key in _CHANGED_IN_LAYERS or isinstance(value, (nnx.Variable, nnx.Pytree)):
                    watch.item(attributes, key)

    def explain(self, error: BaseException) -> str | None:
        # nnx.split of an optimizer and its model raises the second.
        if not isinstance(error, errors.TraceContextError) and "different trace level" not in str(
            error
        ):
            return None
        found: Any = None
        for frame, _ in traceback.walk_tb(error.__traceback__):
            for name in ("self", "value"):  # a method's object, or what a graph function looks at
                owner = frame.f_locals.get(name)
                if isinstance(owner, (nnx.Variable, nnx.Pytree)):
                    found = owner
        if isinstance(found, nnx.Variable):
            value: Any = self.get(found)
            return f"{type(found).__name__} of shape {getattr(value, 'shape', ())}"
        return None if found is None else f"the module {type(found).__name__}"


def register() -> None:
    """Adds the adapter for Flax NNX's objects."""
    register_adapter(NnxAdapter())


def _role(variable: LibraryVariable) -> Role:
    if isinstance(variable, nnx.optimizer.OptState):
        return Role.OPTIMIZER
    return Role.PARAMETER if isinstance(variable, nnx.Param) else Role.OTHER


def _with_sum(tx: optax.GradientTransformation) -> optax.GradientTransformation:
    """Sums gradients in front of an optimizer that does not; its state keeps its structure."""

    def update(
        updates: PyTree, state: PyTree, params: PyTree = None, **extra: Any
    ) -> tuple[PyTree, PyTree]:
        if not sums_by_itself(lambda: tx.update(updates, state, params, **extra)):
            updates = sum_gradients(updates)
        return tx.update(updates, state, params, **extra)

    return tx._replace(update=update)


def _nodes(things: Sequence[Stateful]) -> list[Any]:
    graphs = [nnx.iter_graph(thing) for thing in things if isinstance(thing, nnx.Pytree)]
    nodes = (node for graph in graphs for _, node in graph if isinstance(node, nnx.Pytree))
    return list({id(node): node for node in nodes}.values())


def _added_state(dicts: Sequence[tuple[Any, dict[str, Any]]]) -> list[str]:
    """Lists attributes that hold values of the trace and were absent, or another object, before it."""
    return [
        f"{type(node).__name__}.{key} (a {type(value).__name__})"
        for node, before in dicts
        for key, value in vars(node).items()
        if isinstance(value, (nnx.Variable, nnx.Pytree, jax.Array))
        and before.get(key) is not value
        and not key.startswith("_pytree__")
    ]


def _dotted(path: Sequence[object]) -> str:
    return "".join(
        f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r}]" for key in path
    )
