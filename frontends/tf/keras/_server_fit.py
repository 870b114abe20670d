"""`model.fit` under a `ParameterServerStrategy`: each batch is a function that a worker calls."""

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

from frontends.tf.data.dataset import Dataset
from frontends.tf.distribute.coordinator.cluster_coordinator import ClusterCoordinator
from frontends.tf.distribute.coordinator.per_worker import PerWorkerIterator
from frontends.tf.distribute.input import InputContext
from frontends.tf.distribute.strategies.parameter_server import ParameterServerStrategy
from frontends.tf.feature_column import prepared
from frontends.tf.keras._dataset_creator import DatasetCreator
from spmd.integrations.keras import BatchLoop, Logs, Model


class WorkersLoop:
    """What Keras's loop calls for a batch, under a `ParameterServerStrategy`: has a worker train on its own data.

    The loop waits for the workers at the end of an epoch, and only then has logs.
    """

    def __init__(self, strategy: ParameterServerStrategy, model: Model, loop: BatchLoop) -> None:
        """Makes the loop.

        Args:
            strategy: the model's.
            model: the model.
            loop: trains on batches, wherever it is called.
        """
        self._coordinator: Any = None
        if not strategy.is_copy:
            self._coordinator = ClusterCoordinator(strategy)
            # Workers may have the model as it was before it was compiled.
            self._coordinator.send_anew()
        self._strategy, self._model = strategy, model
        self._loop: BatchLoop | None = loop
        self._data: PerWorkerIterator | None = None
        self._steps = self._left = 0

    def __getstate__(self) -> dict[str, Any]:
        # A worker makes its own, of its copy of the model.
        return vars(self) | {"_coordinator": None, "_loop": None, "_data": None}

    def start(self) -> None:
        """Prepares for other data."""
        self.own_loop().start()

    def own_loop(self) -> BatchLoop:
        """Returns what trains the model in this process."""
        if self._loop is None:
            self._model.make_train_function()
            loop: BatchLoop = self._model.train_function.own_loop()
            self._loop = loop
        return self._loop

    def begin(self, data: PerWorkerIterator, steps_per_epoch: int) -> None:
        """Takes the data of a `fit`."""
        self._data, self._steps, self._left = data, steps_per_epoch, steps_per_epoch

    def resume_at(self, step: int) -> None:
        """Has the first epoch begin with a later step."""
        self._left = self._steps - step

    def wait(self) -> None:
        """Waits until the workers have made the steps that they were given."""
        self._coordinator.join()

    def __call__(self, state: Any, iterator: Iterator[Any]) -> tuple[Logs, Any]:
        """Schedules as many steps as run at once, on the next worker that is free."""
        steps = min(self._model.steps_per_execution, self._left)
        self._coordinator.schedule(self._train, args=(self._data, steps))
        self._left -= steps
        if self._left > 0:
            return {}, state
        self._left = self._steps
        self._coordinator.join()
        return self._model.get_metrics_result(), state

    def _train(self, data: Iterator[Any], steps: int) -> None:
        batches = list(itertools.islice(data, steps))
        if len(batches) < steps:
            raise ValueError(
                "The dataset of a worker ended before `fit` had made its steps. Under a ParameterServerStrategy each worker "
                "reads a dataset of its own, which must not end: dataset.shuffle(n).repeat().batch(size)."
            )
        self.own_loop()([], iter(batches))


def fit_arguments(
    model: Model, strategy: ParameterServerStrategy, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Prepares the workers for a `fit`, and changes its arguments to what Keras's own loop needs.

    Args:
        model: the model.
        strategy: the model's.
        given: arguments of `fit`, by name.

    Returns:
        The arguments. Keras reads the first batch only, over and over, to make the model's variables; nothing
        is trained on it.

    Raises:
        ValueError: the data is no dataset, or `steps_per_epoch` is missing.
    """
    data, steps = given.get("x"), given.get("steps_per_epoch")
    if not isinstance(data, (DatasetCreator, Dataset)):
        raise ValueError(
            "Under a ParameterServerStrategy, fit needs a tf.keras.utils.experimental.DatasetCreator or a tf.data.Dataset, "
            f"but got {type(data).__name__}. Write fit(DatasetCreator(make_dataset), steps_per_epoch=n)."
        )
    if not steps:
        raise ValueError(
            "Under a ParameterServerStrategy, fit needs `steps_per_epoch`: an epoch is so many steps of all workers "
            "together. Write fit(data, epochs=epochs, steps_per_epoch=n)."
        )

    def make() -> Dataset:
        return prepared(data(InputContext()) if isinstance(data, DatasetCreator) else data)

    steps = math.ceil(steps)  # Keras 2 takes a fraction, as of rows / batch
    datasets = ClusterCoordinator(strategy).create_per_worker_dataset(make)
    model.make_train_function()
    model.train_function.begin(iter(datasets), steps)
    return {**given, "x": make().take(1).repeat(), "steps_per_epoch": steps}
