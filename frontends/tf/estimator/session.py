"""What hooks get in place of TensorFlow's session: values of variables, and of the last step."""

import collections
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jax.core import Tracer

from frontends.tf import nest
from frontends.tf._typing import Nested
from frontends.tf.compat.v1 import logging
from frontends.tf.compat.v1.collections import GraphKeys
from frontends.tf.data.fed_inputs import initializes
from frontends.tf.errors import InvalidArgumentError
from frontends.tf.estimator.mode_keys import ModeKeys
from frontends.tf.estimator.model_checkpoints import ModelCheckpoints
from frontends.tf.estimator.model_step import SUMMARY, Made, ModelStep, label_check_name
from frontends.tf.graph import Operation, VariableStore
from frontends.tf.summary.collected import ALL_SUMMARIES, Summary
from spmd.cluster import all_gather_small
from spmd.topology import spans_processes
from spmd.typing import StrPath

_GLOBAL_STEP = "global_step"
# How many steps' labels are known to be in range, or not: by default training looks at the loss that often, or more.
_LABEL_STEPS = 1000
# How often processes ask each other.
_ASK_STEPS = 20


class Session:
    """Reads variables and outputs of steps.

    Attributes:
        global_step: as far as is known without waiting for the last steps.
        is_chief: whether this process, of several that train, is the one that writes and logs for all.
        outputs: what the last step gave, by name; None before the first.
        is_alone: whether no step runs; on parameter servers some may while hooks are called.
        increment: by how much a step moves the global step; None before one has run.
        training_runs: how many steps have trained in this session.
        asked: names of what is fetched of the next step.
    """

    def __init__(
        self,
        store: VariableStore,
        strategy: Any,
        made: Made,
        checkpoints: ModelCheckpoints,
        *,
        is_chief: bool = True,
    ) -> None:
        """Begins a run.

        Args:
            store: the variables.
            strategy: of the steps.
            made: what the model function made.
            checkpoints: where variables are saved.
            is_chief: see `Session`.
        """
        self._store, self._strategy, self._checkpoints = store, strategy, checkpoints
        self.made, self.is_chief = made, is_chief
        self.global_step = self._first = self.read_global_step()
        self.training_runs = 0
        self.outputs: Any = None
        self.increment: int | None = None
        self.is_alone = True
        self.asked: set[str] = set()
        self._label_ranges: collections.deque[list[Any]] = collections.deque(maxlen=_LABEL_STEPS)

    @property
    def is_training(self) -> bool:
        """Whether steps train."""
        return self.made.spec.mode == ModeKeys.TRAIN

    @property
    def fetches(self) -> Any:
        """What each step runs, as TensorFlow has it: the training operation and the loss, or an operation that updates metrics."""
        spec = self.made.spec
        if spec.mode == ModeKeys.TRAIN:
            return [spec.train_op, spec.loss]
        if spec.mode == ModeKeys.PREDICT:
            return spec.predictions
        updates = [update for _, update in spec.eval_metric_ops.values()]
        return [Operation("group_deps", None, updates)]

    def take(self, outputs: Any) -> None:
        """Takes what a step gave, by name."""
        self.outputs = outputs
        checks = self.graph.label_checks
        if checks:
            self._label_ranges.append([outputs[label_check_name(i)] for i in range(len(checks))])

    def check_labels(self) -> None:
        """Checks the labels of the last steps; waits for these.

        Raises:
            InvalidArgumentError: some were out of range.
        """
        for check, steps in zip(
            self.graph.label_checks, zip(*self._label_ranges, strict=True), strict=False
        ):
            for step in steps:
                problem = check.problem(self._strategy.experimental_local_results(step))
                if problem is not None:
                    raise InvalidArgumentError(problem)

    def count_step(self) -> None:
        """Counts a step that was dispatched; waits for the first one, to see by how much it moves the global step."""
        if not self.is_training:
            return
        self.training_runs += 1
        if self.increment is None:
            self.increment = self.read_global_step() - self._first
            if not self.increment:
                logging.warning(
                    "It seems that global step (tf.train.get_global_step) has not been increased. Give it to "
                    "optimizer.minimize(loss, global_step=tf.train.get_global_step())."
                )
        self.global_step += self.increment

    def agrees(self, is_due: bool) -> bool:
        """Tells whether something that depends on a clock is due: by that of process 0, where several run the steps.

        They ask each other every so many steps only; between, and while a step runs, nothing is due.
        """
        if not spans_processes(self._strategy.mesh):
            return is_due and self.is_alone
        if self.global_step % _ASK_STEPS:
            return False
        return all_gather_small("estimator", str(is_due))[0] == str(True)

    def checkpoints_in(self, folder: StrPath, name: str, saver: Any) -> ModelCheckpoints:
        """Returns what saves the variables in a folder; see `ModelCheckpoints.beside`."""
        return self._checkpoints.beside(folder, name, saver)

    def metric(self, value: object) -> Any:
        """Computes the value of a metric from its variables as they are."""
        with self.graph.as_default():
            return self.graph.value_of(value)

    @property
    def graph(self) -> Any:
        """The graph of the model function."""
        return self.made.graph

    def read_global_step(self) -> int:
        """Reads the global step; waits for the last step."""
        variable = self._store.variables.get(_GLOBAL_STEP)
        return 0 if variable is None else int(np.asarray(variable.value()))

    def write_global_step(self) -> None:
        """Sets the variable to the global step as it is known."""
        self._store.variables[_GLOBAL_STEP].assign(self.global_step)

    def run(self, fetches: Nested, feed_dict: Mapping[Any, Any] | None = None) -> Any:
        """Reads variables, and computes what follows from them alone; no step runs.

        Args:
            fetches: variables, tensors of the model function that hooks have, or a structure of them; or initializers of
                iterators.

        Raises:
            ValueError: something else is asked for, or fed.
        """
        if initializes(fetches):
            return None  # what it feeds was taken when the input_fn was called
        if feed_dict:
            raise ValueError(
                "session.run(feed_dict=...) needs placeholders, which there are not. Give the model function what it "
                "needs through its features or params."
            )
        return nest.map_structure(self._run, fetches)

    def _run(self, fetch: object) -> Any:
        if isinstance(fetch, Operation):
            if all(one.effect is None for one in self.graph.operations_of(fetch)):
                return None
            raise ValueError(
                f"session.run({fetch.name!r}) runs no operations. Have the step run it: add it to train_op with tf.group(...), or "
                "return tf.train.SessionRunArgs(operation) from before_run."
            )
        variable = self._variable(fetch)
        if variable is not None:
            return np.asarray(variable.value())[()]
        tensor = self.graph.tensors.get(self._name_of(fetch)) if isinstance(fetch, str) else fetch
        if isinstance(tensor, Tracer) and not self.graph.has_value(tensor):
            raise ValueError(
                f"session.run({fetch!r}) cannot compute what depends on a batch, or changes variables. Have the step do it: return "
                "tf.train.SessionRunArgs(x) from before_run, and take run_values.results in after_run."
            )
        return self._value(fetch, {}) if tensor is None else np.asarray(self.metric(tensor))[()]

    def read(self, fetches: Any) -> Any:
        """Puts arrays for the variables of a structure: as they are before a step, as TensorFlow reads them in it."""

        def read(fetch: Any) -> Any:
            variable = self._variable(fetch)
            return fetch if variable is None else np.asarray(variable.value())[()]

        return nest.map_structure(read, fetches)

    def values(self, fetches: Any, outputs: Mapping[str, Any]) -> Any:
        """Returns arrays in the structure of fetches, of variables and of a step's outputs."""
        return nest.map_structure(lambda one: self._value(one, outputs), fetches)

    def output(self, tensor: Any) -> list[Any]:
        """Returns what the last step computed for a tensor on each replica here, without waiting for it."""
        name, _ = self.made.names[id(tensor)]
        return list(self._strategy.experimental_local_results(self.outputs[name]))

    def _value(self, fetch: Any, outputs: Mapping[str, Any]) -> Any:
        if isinstance(fetch, Operation):
            return None
        if isinstance(fetch, (np.ndarray, np.generic)):  # a variable that was read before the step
            return fetch
        name = self._name_of(fetch)
        if name is not None and name in outputs:
            return self._array(outputs[name])
        variable = self._variable(fetch)
        if variable is not None:
            return np.asarray(variable.value())[()]
        known = sorted(self.graph.given)
        raise ValueError(
            f"{fetch!r} is neither a variable nor a tensor with a name in the model function. Name it: "
            f'tf.identity(x, name="x"). Named are: {", ".join(known) or "none"}.'
        )

    def fetched(self, fetches: Nested) -> set[str]:
        """Lists the names of the model function's tensors in a structure of fetches, and of the summaries that were asked for.

        Those of training are left out: each of its steps returns them.
        """
        found = (self._name_of(one) for one in nest.flatten(fetches))
        names = {name for name in found if name is not None}
        asked = set() if self.is_training else self.asked
        summaries = {name for name in asked if name.startswith(SUMMARY)}
        self.asked |= names
        return summaries | {name for name in names if self.graph.has_tensor(name)}

    def ask_summaries(self, names: Sequence[str] | None = None) -> None:
        """Takes note that `summary` is called after the next step."""
        self.asked |= {
            f"{SUMMARY}{one.name}" for one in self._summaries(names) if one.kind != "text"
        }

    def arguments(self, step: ModelStep) -> tuple[Any, ...]:
        """Returns what a step takes after the batch, and forgets what it was asked for.

        Args:
            step: that runs next. What hooks have asked it to return may have effects, which is not known before it is traced.
        """
        asked, self.asked = self.asked, set()
        names = sorted({*self.made.optional, *(step.fetched or ())})
        return ({name: np.bool_(name in asked) for name in names},) if names else ()

    def _name_of(self, fetch: Any) -> str | None:
        """Returns the name of the output of a step that is meant."""
        if isinstance(fetch, str):
            return fetch if ":" in fetch else f"{fetch}:0"
        found = self.made.names.get(id(fetch))
        if found is None:
            return None if isinstance(fetch, Operation) else self.graph.fetchable_name_of(fetch)
        return found[0]

    def _variable(self, fetch: object) -> Any:
        """Returns the variable that is meant, or None; a tensor's name comes before a variable's."""
        if isinstance(fetch, str):
            name = fetch if ":" in fetch else f"{fetch}:0"
            if name in self.graph.tensors:
                return None
            return self._store.variables.get(name.removesuffix(":0"))
        return fetch if hasattr(fetch, "assign") else None

    def saved_values(self) -> dict[str, Any]:
        """Returns arrays of the variables that checkpoints hold, by name; waits for the last step."""
        return {name: np.asarray(one.value()) for name, one in self._store.saved().items()}

    def final(self, fetches: Any) -> Any:
        """Returns arrays, after the last step, in the structure of fetches: of variables, metrics, and the step's outputs."""

        def read(fetch: Any) -> Any:
            if self.graph.has_value(fetch):
                return np.asarray(self.metric(fetch))
            return self.values(fetch, self.outputs or {})

        return nest.map_structure(read, fetches)

    def loss(self) -> float:
        """Returns the loss of the last step; waits for it."""
        mean = self._strategy.reduce("MEAN", self.outputs["loss"], axis=None)
        return float(np.asarray(mean))

    def _array(self, value: Any) -> Any:
        """Returns the first replica's value."""
        return np.asarray(self._strategy.experimental_local_results(value)[0])[()]

    def summary(
        self, names: Sequence[str] | None = None, values: Mapping[str, Any] | None = None
    ) -> Any:
        """Makes a `tf.Summary` of the last step.

        Args:
            names: of summaries of the model function; None takes the collection `tf.GraphKeys.SUMMARIES`.
            values: numbers to add, by tag.
        """
        from frontends.tf.summary.classic import encoded  # writes images

        wanted = self._summaries(names)
        arrays = {
            one.name: one.tensor
            if one.kind == "text"
            else self._array(self.outputs[f"{SUMMARY}{one.name}"])
            for one in wanted
        }
        # A summary of the model function with this tag stands for the number.
        more = [Summary(tag, "scalar", None) for tag in values or () if tag not in arrays]
        return encoded([*wanted, *more], {**(values or {}), **arrays})

    def _summaries(self, names: Sequence[str] | None) -> list[Summary]:
        collections = self.made.graph.collections
        if names is None:
            return collections[GraphKeys.SUMMARIES]
        return [one for one in collections[ALL_SUMMARIES] if one.name in names]
