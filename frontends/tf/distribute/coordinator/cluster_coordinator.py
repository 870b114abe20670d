"""`tf.distribute.coordinator.ClusterCoordinator`."""

import contextlib
import contextvars
import functools
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax

from frontends.tf._typing import Nested
from frontends.tf.data import Dataset
from frontends.tf.distribute.coordinator.per_worker import PerWorkerDataset, of_worker, on_worker
from frontends.tf.distribute.coordinator.remote_value import RemoteValue
from frontends.tf.distribute.dataset import DistributedDataset
from frontends.tf.distribute.scope import in_force, require_cross_replica
from frontends.tf.distribute.strategies.parameter_server import ParameterServerStrategy
from spmd.servers import Coordinator, Worker
from spmd.state import adapters, merging_writes


class ClusterCoordinator:
    """Hands functions out to workers, and sees that they run.

    There is one coordinator for each strategy: making another one gives the same.

    Attributes:
        strategy: the strategy.

    Examples:
        >>> from frontends import tf
        >>> strategy = tf.distribute.ParameterServerStrategy()
        >>> coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        >>> value = coordinator.schedule(lambda x: x + 1, args=(tf.constant(1),))
        >>> int(value.fetch())
        2

    Source: `tf.distribute.coordinator.ClusterCoordinator`.
    """

    strategy: ParameterServerStrategy
    _coordinator: Coordinator
    _sender: Any = None

    def __new__(cls, strategy: ParameterServerStrategy) -> "ClusterCoordinator":
        """Returns the coordinator of a strategy.

        Raises:
            ValueError: the strategy is no `ParameterServerStrategy`.
            RuntimeError: this process is a task that serves.
        """
        if not isinstance(strategy, ParameterServerStrategy):
            raise ValueError(
                "Only `tf.distribute.experimental.ParameterServerStrategy` is supported to work with `ClusterCoordinator` "
                f"currently, but got {strategy!r}. Make one: tf.distribute.ParameterServerStrategy(cluster_resolver)."
            )
        if not strategy.is_connected:
            raise RuntimeError(
                "TF_CONFIG says that this process is a task that serves or evaluates, and its strategy is not connected. Make "
                "a ClusterCoordinator in the chief, and serve in the others: tf.distribute.Server(cluster, job_name=job, "
                "task_index=index).join()."
            )
        if strategy.coordinator is None:
            self = strategy.coordinator = super().__new__(cls)
            self.strategy = strategy
            workers: Sequence[Worker] = [_Thread(index) for index in range(strategy.num_workers)]
            if strategy.cluster is not None:
                from spmd.servers.remote import Sender

                self._sender = Sender(strategy.mesh, strategy.server_variables)
                workers = strategy.cluster.workers(self._sender, workers)
            self._coordinator = Coordinator(workers, strategy.max_staleness)
            # The threads wait for closures until the strategy is gone.
            weakref.finalize(strategy, self._coordinator.stop)
        return strategy.coordinator

    def schedule(
        self,
        fn: Callable[..., Any],
        args: Sequence[Nested] | None = None,
        kwargs: Mapping[str, Nested] | None = None,
    ) -> RemoteValue:
        """Has a worker call a function; does not wait for it.

        A function runs at least once: if its worker is lost, another one calls it.

        Args:
            fn: a `tf.function` or a Python function.
            args: positional arguments. Of a per-worker dataset, iterator or value, the worker's own is passed; of a
                `RemoteValue`, its result.
            kwargs: keyword arguments, likewise.

        Returns:
            What the function will return.

        Raises:
            TypeError: `fn` cannot be called, `args` is no tuple or list, or `kwargs` no mapping.
            Exception: what an earlier function raised, once.

        Source: `tf.distribute.coordinator.ClusterCoordinator.schedule`.
        """
        require_cross_replica("schedule")
        if not callable(fn):
            raise TypeError(
                f"ClusterCoordinator.schedule needs a function, but got {fn!r}. Pass the function itself: "
                "coordinator.schedule(step, args=(iterator,))."
            )
        if args is not None and not isinstance(args, tuple | list):
            raise TypeError(
                "ClusterCoordinator.schedule takes the arguments of the function as a tuple, but got "
                f"args of type {type(args).__name__}. For one argument write coordinator.schedule(fn, args=(value,)), for "
                "several args=(one, another)."
            )
        if kwargs is not None and not isinstance(kwargs, Mapping):
            raise TypeError(
                "ClusterCoordinator.schedule takes the keyword arguments of the function as a dictionary, but got "
                f"kwargs of type {type(kwargs).__name__}. Write coordinator.schedule(fn, args=(one, another), "
                "kwargs={'name': value})."
            )
        arguments: Any = jax.tree.map(
            lambda leaf: leaf.engine_value if _is_remote(leaf) else leaf,
            (tuple(args or ()), dict(kwargs or {})),
            is_leaf=_is_remote,
        )
        function = functools.partial(_call, self.strategy, fn)
        return RemoteValue(self._coordinator.schedule(function, arguments))

    def join(self) -> None:
        """Blocks until all functions have run.

        Raises:
            Exception: the first error of one of them, once. Functions that waited are cancelled.

        Source: `tf.distribute.coordinator.ClusterCoordinator.join`.
        """
        self._coordinator.join()

    def done(self) -> bool:
        """Tells whether all functions have run.

        Raises:
            Exception: the first error of one of them, once.

        Source: `tf.distribute.coordinator.ClusterCoordinator.done`.
        """
        return self._coordinator.done()

    def create_per_worker_dataset(
        self, dataset_fn: "Callable[[], Any] | Dataset | DistributedDataset"
    ) -> PerWorkerDataset:
        """Makes a dataset for each worker.

        Args:
            dataset_fn: returns a dataset, and is called on each worker; or a dataset, which each worker reads by itself.

        Returns:
            The datasets. `iter` of it makes an iterator for each worker, to pass to `schedule`.

        Raises:
            TypeError: `dataset_fn` is neither a function nor a dataset.

        Source: `tf.distribute.coordinator.ClusterCoordinator.create_per_worker_dataset`.
        """
        make: Any = getattr(dataset_fn, "python_function", dataset_fn)
        if not callable(make):
            if not isinstance(dataset_fn, Iterable):
                raise TypeError(
                    f"create_per_worker_dataset takes a function that returns a dataset, or a dataset, but got {dataset_fn!r}. "
                    "Pass lambda: tf.data.Dataset.range(10).repeat()."
                )
            make = functools.partial(_same, dataset_fn)
        strategy = self.strategy

        def make_in_scope() -> Any:
            with in_force(strategy):
                return make()

        return PerWorkerDataset(make_in_scope, strategy.num_workers)

    @property
    def lost(self) -> int:
        """How often a worker was lost while it had a function, which may have changed variables, and runs again."""
        return self._coordinator.lost

    def wait(self, results: Sequence[RemoteValue]) -> None:
        """Blocks until one of some results is there, or an error in place of it."""
        self._coordinator.wait([result.engine_value for result in results])

    def stop(self, wait_seconds: float | None) -> None:
        """Cancels what waits, and waits for what runs; nothing can be scheduled any more.

        Args:
            wait_seconds: how long to wait for each worker; None for any time.
        """
        self._coordinator.stop(wait_seconds)

    def send_anew(self) -> None:
        """Has the workers get models and functions anew, as they are now."""
        if self._sender is not None:
            self._sender.reset()

    def __reduce__(self) -> Any:
        # In a worker, a name that the step's code has and does not use.
        return _Elsewhere, (self.strategy,)

    def fetch(self, val: Nested) -> Any:
        """Returns the results behind `RemoteValue`s as NumPy arrays; blocks until they are there.

        Args:
            val: nested structure of them, and of other values, which stay.

        Raises:
            Exception: what one of the functions raised.

        Source: `tf.distribute.coordinator.ClusterCoordinator.fetch`.
        """
        return jax.tree.map(
            lambda leaf: leaf.fetch() if _is_remote(leaf) else leaf, val, is_leaf=_is_remote
        )


class _Elsewhere:
    """What a worker's process has of a coordinator."""

    def __init__(self, strategy: ParameterServerStrategy) -> None:
        self.strategy = strategy

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise RuntimeError(
            f"ClusterCoordinator.{name} was asked for in a function that a worker runs, and a worker has no coordinator. "
            "Schedule functions, join and fetch in the program itself: pass a result to another function in its arguments, "
            "coordinator.schedule(fn, args=(remote_value,)), or return what the program needs."
        )


class _Thread:
    """A worker that is a thread of this process."""

    at_once = 1

    def __init__(self, index: int) -> None:
        self._index = index
        # What libraries keep for each thread: scopes, types, seeds.
        self._set_up: list[Callable[[], None]] | None = [
            adapter.on_thread() for adapter in adapters()
        ]

    def run(self, closures: Sequence[Callable[[int], Any]], finish: Callable[[Any], None]) -> None:
        """Calls closures; see `spmd.servers.Worker`."""
        if self._set_up is not None:
            for set_up in self._set_up:
                set_up()
            self._set_up = None
        for closure in closures:
            finish(contextvars.copy_context().run(closure, self._index))

    def restore(self) -> bool:
        """Tells that a thread is always there."""
        return True


def _call(
    strategy: ParameterServerStrategy,
    fn: Callable[..., Any],
    args: Sequence[Nested],
    kwargs: Mapping[str, Nested],
    worker: int,
) -> Any:
    """Calls a scheduled function on a worker."""
    with contextlib.ExitStack() as stack:
        for context in (in_force(strategy), on_worker(worker), merging_writes()):
            stack.enter_context(context)
        own_args, own_kwargs = of_worker((args, kwargs), worker)
        try:
            return jax.block_until_ready(fn(*own_args, **own_kwargs))
        except TypeError as error:
            if "not an iterator" in str(error) and any(map(_is_dataset, (*args, *kwargs.values()))):
                raise TypeError(
                    f"{error}. The function got a dataset of the worker. Pass it an iterator, to be made once: "
                    "iterator = iter(coordinator.create_per_worker_dataset(dataset_fn)); "
                    "coordinator.schedule(step, args=(iterator,))."
                ) from error
            raise


def _is_remote(leaf: object) -> bool:
    return isinstance(leaf, RemoteValue)


def _is_dataset(argument: object) -> bool:
    return isinstance(argument, PerWorkerDataset)


def _same(dataset: Any) -> Any:
    return dataset
