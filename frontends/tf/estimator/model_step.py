"""A model function as a step of the engine: traced for a mode, run on batches."""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer

from frontends.tf.compat.v1.metrics.streaming import received_rows
from frontends.tf.compat.v1.train.steps import get_or_create_global_step
from frontends.tf.estimator.estimator_spec import EstimatorSpec
from frontends.tf.estimator.mode_keys import ModeKeys
from frontends.tf.gradient_tape import GradientTape
from frontends.tf.graph import Graph, Operation, VariableStore
from frontends.tf.ops.gradients import TapeNeeded
from frontends.tf.summary.collected import ALL_SUMMARIES
from spmd.servers import register_reducer
from spmd.state import Searched

# What the names of outputs that summaries show begin with.
SUMMARY = "summary "


@dataclasses.dataclass(eq=False)
class Made:
    """What the model function made when it was last traced.

    Attributes:
        graph: names and collections.
        spec: what it returned.
        names: by the id of a tensor that is an output of the step, or of an operation: its name there. Both are kept.
        optional: of these names, those with effects that only happen in steps of which they are asked.
    """

    graph: Graph
    spec: EstimatorSpec
    names: dict[int, tuple[str, Any]]
    optional: list[str]


class ModelStep(Searched):
    """What one replica does with a batch.

    Attributes:
        store: variables and optimizers of the model.
        fetched: names of tensors that a step returns besides; None for all names that the model function gives.
    """

    def __init__(
        self,
        function: Callable[[Any, Any], EstimatorSpec],
        mode: str,
        store: VariableStore,
        scales_loss: bool,
        fetched: frozenset[str] | None = None,
    ) -> None:
        """Describes a step.

        Args:
            function: makes the spec of features and labels.
            mode: one of `ModeKeys`.
            store: of the variables.
            scales_loss: whether gradients are those of the mean over replicas.
            fetched: see `ModelStep`.
        """
        self.store, self.fetched = store, fetched
        self._function, self._mode, self._scales_loss = function, mode, scales_loss
        self._hidden: list[Made] = _Hidden()

    @property
    def made(self) -> Made:
        """What the model function made."""
        return self._hidden[-1]

    def fetching(self, names: Iterable[str]) -> "ModelStep":
        """Returns a step that returns more tensors; it is compiled anew."""
        fetched = (self.fetched or frozenset()).union(names)
        return ModelStep(self._function, self._mode, self.store, self._scales_loss, fetched)

    def make_variables(self, features: Any, labels: Any) -> None:
        """Calls the model function on values, outside of a trace: what a trace computes cannot be an initial value.

        Args:
            features: of one replica.
            labels: of one replica.
        """
        self._call(features, labels, has_tape=False)

    def _call(self, features: Any, labels: Any, *, has_tape: bool) -> tuple[Graph, EstimatorSpec]:
        """Calls the model function; with a tape, even where there is to be none, if it asks for gradients."""
        tape = GradientTape(persistent=True) if has_tape else None
        graph = Graph(self.store, tape)
        graph.scales_loss, graph.is_saved = self._scales_loss, True
        with graph.as_default(), tape or contextlib.nullcontext():
            get_or_create_global_step()
            try:
                return graph, self._function(features, labels)
            except TapeNeeded:
                if has_tape:
                    raise NotImplementedError(
                        "tf.gradients of gradients is not supported in a model function. Take them with nested "
                        "tf.GradientTape blocks."
                    ) from None
        return self._call(features, labels, has_tape=True)

    def __call__(
        self, features: Any, labels: Any, asked: Mapping[str, jax.Array] | None = None
    ) -> dict[str, Any]:
        """Calls the model function in a trace, and runs what the mode runs; returns what can be fetched, by name.

        Args:
            features: of one replica.
            labels: of one replica.
            asked: whether a name of `Made.optional` is asked for; one that is not there is not, as in the first trace.
        """
        is_training = self._mode == ModeKeys.TRAIN
        graph, spec = self._call(features, labels, has_tape=is_training)
        outputs: dict[str, Any] = {}
        names: dict[int, tuple[str, Any]] = {}

        def output(name: str, tensor: Any) -> None:
            outputs[name] = tensor
            names[id(tensor)] = name, tensor

        for name in sorted(graph.given if self.fetched is None else self.fetched):
            if not name.startswith(SUMMARY):
                output(name, graph.fetchable(name))
        for index, hook in enumerate(
            (
                *(*spec.training_hooks, *spec.training_chief_hooks),
                *(*spec.evaluation_hooks, *spec.prediction_hooks),
            )
        ):
            for path, found in _fetchable_in(_reachable(hook)).items():
                name = f"hook {index}/{path}"
                if isinstance(found, Operation):
                    names[id(found)] = name, found
                else:
                    output(name, found)
        for index, check in enumerate(graph.label_checks):
            output(label_check_name(index), check.found)
        for summary in graph.collections[ALL_SUMMARIES]:
            name = f"{SUMMARY}{summary.name}"
            # No step returns texts. Training writes the others; elsewhere only a hook does, if there is one.
            if summary.kind != "text" and (
                is_training or self.fetched is None or name in self.fetched
            ):
                output(name, summary.tensor)
        if spec.loss is not None:
            output("loss", spec.loss)
        for _, tensor in names.values():
            graph.keep_value(tensor)
        if is_training:
            fetches = [spec.train_op, spec.loss]
        elif self._mode == ModeKeys.EVAL:
            fetches = [[update for _, update in spec.eval_metric_ops.values()], spec.loss]
            for value, _ in spec.eval_metric_ops.values():
                graph.keep_value(value)
            has_batch, loss = received_rows(), jnp.asarray(spec.loss, jnp.float32)
            counts = jnp.ones(()) if has_batch is None else has_batch.astype(jnp.float32)
            outputs["loss and count"] = jnp.stack([jnp.where(counts, loss, 0), counts])
        else:
            fetches = outputs["predictions"] = spec.predictions
        with graph.as_default():
            optional = _run(graph, fetches, dict(names.values()), asked)
        if graph.tape is not None:
            graph.tape.reset()  # which would be told of what each step writes, as long as the graph is kept
        self._hidden[:] = [Made(graph, spec, names, optional)]
        return outputs


def label_check_name(index: int) -> str:
    """Returns the name of the output that a check of labels looks at; see `Graph.label_checks`."""
    return f"label check {index}"


def _run(
    graph: Graph,
    fetches: Any,
    named: Mapping[str, Any],
    asked: Mapping[str, jax.Array] | None,
) -> list[str]:
    """Runs what each step runs, and, if they are asked for, the operations of other tensors.

    Args:
        graph: of the model function.
        fetches: what each step runs.
        named: other tensors and operations, by name.
        asked: see `ModelStep`.

    Returns:
        The names of those whose operations do not run in each step.
    """
    always = graph.operations_of(fetches)
    known = {id(one) for one in always}
    further = {
        name: [one for one in graph.operations_of(fetched) if id(one) not in known]
        for name, fetched in named.items()
    }
    optional = [name for name, operations in further.items() if operations]
    graph.apply(always)
    there = [name for name in optional if asked is not None and name in asked]
    if asked is not None and there:
        for operation in graph.operations_of([further[name] for name in there]):
            if id(operation) not in known:
                flags = [asked[name] for name in there if operation in further[name]]
                graph.apply([operation], functools.reduce(jnp.logical_or, flags))
    return optional


def _reachable(hook: Any) -> dict[str, Any]:
    """What a hook can fetch: its attributes, and what its methods have of the function that defines its class."""
    found = dict(vars(hook)) if hasattr(hook, "__dict__") else {}
    for name in ("begin", "after_create_session", "before_run", "after_run", "end"):
        method = getattr(type(hook), name, None)
        if isinstance(method, FunctionType):
            cells = zip(method.__code__.co_freevars, method.__closure__ or (), strict=True)
            for key, cell in cells:
                with contextlib.suppress(ValueError):  # it is not assigned
                    found[f"{name}/{key}"] = cell.cell_contents
    return found


class _Hidden(list[Any]):
    """A list that a step does not search: what it holds is of a trace."""

    __slots__ = ("__weakref__",)


register_reducer(_Hidden, lambda _: (_Hidden, ()))


def _fetchable_in(value: Any, path: str = "", depth: int = 3) -> dict[str, Any]:
    """Finds the tensors of a trace, and operations, in the attributes of a hook."""
    if isinstance(value, (Tracer, Operation)):
        return {path: value}
    items: Any = ()
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, (list, tuple)):
        items = enumerate(value)
    found: dict[str, Any] = {}
    if depth:
        for key, item in items:
            found |= _fetchable_in(item, f"{path}/{key}", depth - 1)
    return found
