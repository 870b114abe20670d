"""`tf.distribute.MultiWorkerMirroredStrategy` in a program that is no task of the cluster."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax

from frontends.tf._typing import Nested, Source
from frontends.tf.data.tracing import in_map_on_host
from frontends.tf.distribute.cluster_resolver import ClusterResolver, SimpleClusterResolver
from frontends.tf.distribute.connection import connected_cluster, source_of_client
from frontends.tf.distribute.elsewhere import run_functions_by
from frontends.tf.distribute.extended import StrategyExtended
from frontends.tf.distribute.input import InputContext, InputOptions, ValueContext
from frontends.tf.distribute.options import CollectiveHints, CommunicationOptions, RunOptions
from frontends.tf.distribute.reduce_op import ReduceOp
from frontends.tf.distribute.scope import entered, get_strategy, has_strategy
from frontends.tf.distribute.server import jobs_of
from frontends.tf.distribute.standalone import making
from frontends.tf.distribute.standalone.calls import call, call_method
from frontends.tf.distribute.standalone.values import RemoteValues
from frontends.tf.distribute.strategies.multi_worker_mirrored import MultiWorkerMirroredStrategy
from frontends.tf.distribute.strategy import Strategy
from frontends.tf.ops.seeds import seed_setting
from spmd.replica import CollectiveOptions, current_frame
from spmd.servers import Reduced, keep_on_workers, register_reducer
from spmd.servers.remote import Gang, MadeVariablesError, Pending, receiving
from spmd.state import discover

# By the addresses of the cluster: strategies of one program share the processes.
_GANGS: dict[str, Gang] = {}


class StandaloneStrategy(MultiWorkerMirroredStrategy):
    """Trains on all devices of the workers of a cluster, for a program that is none of them.

    The program runs here; what `run` is given, `tf.function`s and the steps of `fit` run there, in processes that make
    an ordinary `MultiWorkerMirroredStrategy` of themselves. See docs/standalone.md.

    Attributes:
        gang: the engine's processes in the workers.
    """

    def __init__(
        self,
        cluster_resolver: ClusterResolver | None = None,
        communication_options: CollectiveHints | None = None,
    ) -> None:
        """Starts a process in each worker; waits until all have joined each other.

        Args:
            cluster_resolver: shown by the strategy; the cluster is the one that the program has connected to.
            communication_options: how collectives travel.

        Raises:
            ClusterError: the processes cannot join each other.
            RuntimeError: inside a function that a strategy runs.
        """
        options = communication_options or CommunicationOptions()
        if not isinstance(options, CollectiveHints):
            raise TypeError(
                f"communication_options must be a tf.distribute.experimental.CommunicationOptions, but is "
                f"{options!r}."
            )
        cluster = connected_cluster()
        assert cluster is not None
        self._cluster_resolver = cluster_resolver or SimpleClusterResolver(cluster)
        gang = _GANGS.get(repr(cluster))
        if gang is None or not gang.is_usable:
            gang = _GANGS[repr(cluster)] = Gang(jobs_of(cluster), source_of_client(cluster))
        self.gang = gang
        Strategy.__init__(self, gang.mesh, collectives=options.collectives)
        self.extended = _Extended(self)
        run_functions_by(self)

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas train together, in all workers."""
        return self.gang.num_replicas

    @property
    def collectives(self) -> CollectiveOptions:
        """How gradients travel."""
        return self._collectives

    def takes_functions(self) -> bool:
        """Tells whether a `tf.function` that is called now runs in the cluster; not under another strategy."""
        return not making.is_making() and not in_map_on_host() and self._is_meant()

    def run_function(self, function: Any, args: Sequence[Nested], kwargs: Mapping[str, Any]) -> Any:
        """Runs a `tf.function` in the cluster; see `frontends.tf.distribute.elsewhere.Runner`."""
        return self.there(function, args, kwargs)

    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Nested] = (),
        kwargs: Mapping[str, Nested] | None = None,
        options: RunOptions | None = None,
    ) -> Any:
        """Runs a function on every replica, in the cluster; see `Strategy.run`."""
        if current_frame() is not None or not isinstance(args, (tuple, list)) or not callable(fn):
            return super().run(fn, args, kwargs, options)
        if making.is_making():
            return self._trace(fn, args, dict(kwargs or {}))
        return self._method("run", fn, tuple(args), dict(kwargs or {}))

    def trace(self, fn: Callable[..., Any], args: Sequence[Nested] = ()) -> None:
        """Traces a function here, which makes its variables; see `Strategy.trace`."""
        self.gang.variables.refresh_all()
        table, _ = discover(fn)
        with making.making(self.mesh, [*self.gang.variables.all(), *table.variables]):
            self._trace(fn, _as_zeros(tuple(args)), {})
        self.gang.reset()

    def run_steps(self, fn: Callable[[Any], Any], iterator: Iterator[Any], steps: int) -> Any:
        """Runs a training step on each of the next batches, in the cluster; see `Strategy.run_steps`."""
        return self._method("run_steps", fn, iterator, steps)

    def reduce(
        self, reduce_op: ReduceOp | str, value: Nested, axis: int | tuple[int, ...] | None
    ) -> Any:
        """Combines per-replica values into one; see `Strategy.reduce`."""
        if _is_remote(value):
            return self._method("reduce", reduce_op, value, axis)
        return super().reduce(reduce_op, value, axis)

    def gather(self, value: Nested, axis: int) -> Any:
        """Concatenates per-replica values along an axis; see `Strategy.gather`."""
        if _is_remote(value):
            return self._method("gather", value, axis)
        return super().gather(value, axis)

    def experimental_distribute_dataset(
        self, dataset: Source, options: InputOptions | None = None
    ) -> Any:
        """Has the workers read a dataset; see `Strategy.experimental_distribute_dataset`."""
        return self._method("experimental_distribute_dataset", dataset, options)

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: InputOptions | None = None
    ) -> Any:
        """Has each worker make and read a dataset; see `Strategy.distribute_datasets_from_function`."""
        return self._method("distribute_datasets_from_function", dataset_fn, options)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_distribute_values_from_function(
        self, value_fn: Callable[[ValueContext], Any]
    ) -> Any:
        """Makes a per-replica value in the workers; see `Strategy.experimental_distribute_values_from_function`."""
        return self._method("experimental_distribute_values_from_function", value_fn)

    def verify(self, step: Callable[..., Any], batch: Nested = None, **_: Any) -> Any:
        """Refuses: it compares devices of one process."""
        raise NotImplementedError(
            "strategy.verify does not run in a cluster that works for a program elsewhere. Verify the step on this machine: "
            "tf.distribute.MirroredStrategy(['cpu:0', 'cpu:1']).verify(step, batch)."
        )

    def there(
        self, function: Callable[..., Any], args: Sequence[Nested], kwargs: Mapping[str, Nested]
    ) -> Any:
        """Calls a function in the cluster, and waits for its result.

        Raises:
            UnavailableError: a worker is gone.
            Exception: what the function raised.
        """
        try:
            return self.begin(function, *args, **kwargs).result()
        except MadeVariablesError:
            pass
        # What the workers lack is made here, and then they get all anew.
        self._make_variables(function, args, kwargs)
        try:
            return self.begin(function, *args, **kwargs).result()
        except MadeVariablesError:
            raise ValueError(
                f"{function!r} makes variables whenever it is called, and a worker cannot make one that the program would "
                "not have. Make them once, before."
            ) from None

    def begin(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Pending:
        """Has the cluster call a function; does not wait.

        Raises:
            UnavailableError: a worker is gone.
        """
        in_scope = has_strategy() and get_strategy() is self
        closure = functools.partial(call, self, in_scope, seed_setting(), function, args, kwargs)
        return self.gang.start(closure)

    def _method(self, name: str, *args: Any) -> Any:
        if making.is_making():
            return getattr(super(), name)(*args)
        return self.there(call_method, (self, name, *args), {})

    def _is_meant(self) -> bool:
        return not has_strategy() or get_strategy() is self

    def _make_variables(
        self, function: Callable[..., Any], args: Sequence[Nested], kwargs: Mapping[str, Nested]
    ) -> None:
        if function is call_method:
            _, name, *args = args
            function = getattr(self, name)
        self.gang.variables.refresh_all()
        with making.making(self.mesh, self.gang.variables.all()):
            args, kwargs = _as_zeros((tuple(args), dict(kwargs)))
            getattr(function, "python_function", function)(*args, **kwargs)
        self.gang.reset()

    def _trace(self, fn: Callable[..., Any], args: Sequence[Nested], kwargs: Any) -> Any:
        """Traces a replica's function here, for the variables that it makes; returns zeros."""
        with entered(self):
            traced = self._steps.get(fn).trace(*args, **kwargs)
        return jax.tree.map(lambda one: making.one_value(one.shape, one.dtype), traced.out_info)

    def _local_values(self, leaf: Any) -> tuple[Any, ...]:
        return leaf.values if isinstance(leaf, RemoteValues) else super()._local_values(leaf)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.num_replicas_in_sync} replicas in {len(self.gang.names)} workers)"


class _Extended(StrategyExtended):
    """What libraries call on the strategy: `update` runs in the cluster."""

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Sequence[Nested] = (),
        kwargs: Mapping[str, Nested] | None = None,
        group: bool = True,
    ) -> Any:
        """Calls a function that updates a variable; see `StrategyExtended.update`."""
        strategy: Any = self._strategy
        if current_frame() is not None or making.is_making():
            return super().update(var, fn, args, kwargs, group)
        return strategy.there(_update, (strategy, var, fn, args, kwargs, group), {})


def _update(strategy: Any, *args: Any) -> Any:
    return strategy.extended.update(*args)


def _is_remote(value: Nested) -> bool:
    return any(isinstance(leaf, RemoteValues) for leaf in jax.tree.leaves(value))


def _as_zeros(tree: Any) -> Any:
    """Puts values of a device of this process in place of those that are in the cluster."""
    leaves, structure = jax.tree.flatten(tree)
    rows = {
        index: leaf
        for index, leaf in enumerate(leaves)
        if isinstance(leaf, RemoteValues) and leaf.rows is not None
    }
    if rows:
        made = making.batch_like(
            {index: jax.numpy.zeros(leaf.shape, leaf.dtype) for index, leaf in rows.items()}
        )
        for index in rows:
            leaves[index] = made[index]
    for index, leaf in enumerate(leaves):
        if isinstance(leaf, RemoteValues):
            leaves[index] = making.one_value(leaf.shape, leaf.dtype)
    return structure.unflatten(leaves)


def _reduce(strategy: StandaloneStrategy) -> Reduced:
    return _in_worker, (strategy.collectives,)


def _in_worker(collectives: CollectiveOptions) -> MultiWorkerMirroredStrategy:
    """Makes the strategy of a worker's process, which has joined the others."""
    receiver = receiving()
    assert receiver is not None
    strategy = object.__new__(MultiWorkerMirroredStrategy)
    Strategy.__init__(strategy, receiver.mesh, collectives=collectives)
    return strategy


register_reducer(StandaloneStrategy, _reduce)
keep_on_workers(StandaloneStrategy)
