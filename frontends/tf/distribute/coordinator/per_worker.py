"""Values of which each worker has its own: datasets, and iterators over them."""

import contextvars
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from frontends.tf._typing import Nested
from spmd.assigned import assigned
from spmd.servers import keep_on_workers

# The worker whose closure runs on this thread; None outside of closures.
_WORKER: contextvars.ContextVar[int | None] = contextvars.ContextVar("tf_worker", default=None)


class PerWorkerValues:
    """A value for each worker; a function that is scheduled gets the one of its worker.

    Source: `tf.distribute.experimental.coordinator.PerWorkerValues`.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        """Makes the container of the workers' values, in their order."""
        self._values = tuple(values)

    def of_worker(self, worker: int) -> Any:
        """Returns the value of one worker."""
        return self._values[worker]


class _MadeByWorker(PerWorkerValues):
    """A value that each worker makes when it first needs it."""

    def __init__(self, make: Callable[[], Any], workers: int) -> None:
        super().__init__([None] * workers)
        self._make, self._made = make, dict[int, Any]()

    def of_worker(self, worker: int) -> Any:
        """Returns what one worker has made."""
        if worker not in self._made:
            self._made[worker] = self._make()
        return self._made[worker]

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_made": {}}  # what this process made


class PerWorkerDataset(_MadeByWorker):
    """A dataset for each worker; `ClusterCoordinator.create_per_worker_dataset` makes it.

    Outside of a scheduled function only `iter` of it is of use: it makes an iterator for each worker.

    Source: what `tf.distribute.coordinator.ClusterCoordinator.create_per_worker_dataset` returns.
    """

    def __init__(self, make: Callable[[], Any], workers: int) -> None:
        """Takes the function that makes a worker's dataset."""
        super().__init__(make, workers)
        self._workers = workers

    def __iter__(self) -> "PerWorkerIterator":
        return PerWorkerIterator(self, self._workers)

    @property
    def element_spec(self) -> Any:
        """What the elements are like."""
        return self.of_worker(0).element_spec


class PerWorkerIterator(PerWorkerValues):
    """An iterator for each worker, over its own dataset."""

    def __init__(self, dataset: PerWorkerDataset, workers: int) -> None:
        super().__init__([_LazyIterator(dataset, worker) for worker in range(workers)])

    def of_worker(self, worker: int) -> Any:
        """Returns the iterator of one worker."""
        return self._values[worker].get()

    def __iter__(self) -> "PerWorkerIterator":
        return self

    def __next__(self) -> Any:
        worker = current_worker()
        if worker is None:
            raise NotImplementedError(
                "Iterating over an iterator of workers is not supported here: its elements are the workers'. Pass it to "
                "the function that is scheduled: coordinator.schedule(step, args=(iterator,)), and call next(iterator) "
                "there."
            )
        return next(self.of_worker(worker))


class _LazyIterator:
    def __init__(self, dataset: PerWorkerDataset, worker: int) -> None:
        self._dataset, self._worker = dataset, worker
        self._iterator: Iterator[Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_iterator": None}

    def get(self) -> Iterator[Any]:
        if self._iterator is None:
            self._iterator = iter(self._dataset.of_worker(self._worker))
        return self._iterator


def current_worker() -> int | None:
    """Returns the index of the worker whose function runs here; None outside of one."""
    return _WORKER.get()


def experimental_get_current_worker_index() -> int:
    """Returns the index of the worker whose function runs here.

    Raises:
        RuntimeError: this is no function that was scheduled.

    Source: `tf.distribute.coordinator.experimental_get_current_worker_index`.
    """
    worker = current_worker()
    if worker is None:
        raise RuntimeError(
            "Cannot retrieve the worker index: this is not a function that ClusterCoordinator.schedule runs. Call it in "
            "one."
        )
    return worker


def on_worker(worker: int) -> Any:
    """Marks a block as a worker's."""
    return assigned(_WORKER, worker)


def of_worker(tree: Nested, worker: int) -> Any:
    """Puts a worker's own values in place of those of all workers.

    Args:
        tree: nested structure of arguments.
        worker: index of the worker.
    """

    def is_one(leaf: object) -> bool:
        return isinstance(leaf, PerWorkerValues)

    return jax.tree.map(
        lambda leaf: leaf.of_worker(worker) if is_one(leaf) else leaf, tree, is_leaf=is_one
    )


keep_on_workers(PerWorkerValues)
keep_on_workers(_LazyIterator)
