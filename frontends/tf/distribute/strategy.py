"""What all strategies share: `scope`, `run`, `reduce`, and the ways in for data."""

import contextlib
import itertools
import operator
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, TypeVar

import jax
import numpy as np
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import spmd
from frontends.tf.data.iterator import OutOfRangeError
from frontends.tf.distribute.aliases import FormerNames
from frontends.tf.distribute.auto_shard import distributed
from frontends.tf.distribute.dataset import DistributedDataset
from frontends.tf.distribute.extended import StrategyExtended
from frontends.tf.distribute.function_key import function_key
from frontends.tf.distribute.input import (
    InputContext,
    InputOptions,
    InputReplicationMode,
    ValueContext,
)
from frontends.tf.distribute.reduce_op import op_name
from frontends.tf.distribute.scope import WrongMeshError, entered, in_force
from frontends.tf.indexed_slices import is_slices
from frontends.tf.ops.random import STREAM
from spmd.replica import (
    CollectiveOptions,
    PerReplica,
    TracedPerReplica,
    collective_options,
    current_frame,
    in_replica,
    stack_replicas,
)
from spmd.source_lines import user_stacklevel
from spmd.step import Repetition, check_axis, run_in_replicas
from spmd.topology import REPLICA_AXIS, spans_processes

_Made = TypeVar("_Made")

# Steps that a strategy keeps for functions run outside of tf.function.
_MAX_STEPS = 32

# How many steps of functions made by the same lines make a warning.
_WARN_AT = (4, 8, 16, 32)


class Strategy(FormerNames):
    """Where a training step runs, and how replicas are kept equal.

    Make a `MirroredStrategy` or another subclass.

    Attributes:
        has_components: whether variables have a value for each replica, as far as a script can tell.

    Source: `tf.distribute.Strategy`.
    """

    has_components: bool = False

    def __init__(
        self,
        mesh: Mesh,
        *,
        is_default: bool = False,
        parameter_devices: Iterable[Any] | None = None,
        collectives: CollectiveOptions | None = None,
    ) -> None:
        """Makes a strategy over a mesh.

        Args:
            mesh: the devices, one per replica.
            is_default: whether it stands for no strategy at all, so that its scope changes nothing.
            parameter_devices: the devices that `extended.parameter_devices` names; None for all.
            collectives: how gradients travel; None leaves it to XLA.
        """
        self._mesh = mesh
        self.is_default = is_default
        self._collectives = collectives or CollectiveOptions()
        self._steps: OrderedDict[Hashable, tuple[Any, Any]] = OrderedDict()
        self._lock = threading.Lock()
        devices = mesh.local_devices if parameter_devices is None else parameter_devices
        self.extended = StrategyExtended(self, devices)

    @property
    def mesh(self) -> Mesh:
        """The engine's mesh: the devices along the axis `"replica"`.

        Examples:
            >>> from frontends import tf
            >>> tf.distribute.OneDeviceStrategy("cpu:0").mesh.axis_names
            ('replica',)

        Source: no TensorFlow symbol.
        """
        return self._mesh

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas train together.

        Examples:
            >>> from frontends import tf
            >>> tf.distribute.OneDeviceStrategy("cpu:0").num_replicas_in_sync
            1

        Source: `tf.distribute.Strategy.num_replicas_in_sync`.
        """
        return spmd.num_replicas(self._mesh)

    @property
    def cluster_resolver(self) -> None:
        """How the cluster was found: there is none, so None.

        Source: `tf.distribute.Strategy.cluster_resolver`.
        """
        return None

    def scope(self) -> contextlib.AbstractContextManager["Strategy"]:
        """Puts the strategy in force for a `with` block, on this thread.

        Returns:
            A context manager that gives the strategy.

        Raises:
            RuntimeError: inside a replica, unless this is the default strategy; or on entry, inside
                the scope of another strategy.

        Examples:
            >>> from frontends import tf
            >>> with tf.distribute.OneDeviceStrategy("cpu:0").scope() as strategy:
            ...     tf.distribute.get_strategy() is strategy
            True

        Source: `tf.distribute.Strategy.scope`.
        """
        if in_replica() and not self.is_default:
            raise RuntimeError(
                "strategy.scope() was entered inside a function that a strategy runs. Enter it "
                "outside, around the code that makes models and calls run()."
            )
        return entered(self)

    def run(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None
    ) -> Any:
        """Runs a function on every replica, as one compiled program.

        Args:
            fn: what one replica does.
            args: positional arguments; per-replica leaves are split, others go whole to each replica.
            kwargs: keyword arguments, likewise.
            options: `tf.distribute.RunOptions`; accepted.

        Returns:
            The function's result; every leaf is a per-replica value.

        Raises:
            ValueError: `args` is neither a tuple nor a list.
            TypeError: `fn` cannot be called, or returns what is no array or number.
            RuntimeError: called inside a replica, or in a `tf.function` that runs on other devices.

        Examples:
            >>> from frontends import tf
            >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
            >>> result = strategy.run(
            ...     lambda x, scale: x * scale, args=(3.0,), kwargs={"scale": 2.0}
            ... )
            >>> [float(value) for value in result.values]
            [6.0]

        Source: `tf.distribute.Strategy.run`.
        """
        del options
        if not isinstance(args, (tuple, list)):
            raise ValueError(
                f"strategy.run needs args as a tuple or list, but got a {type(args).__name__}. "
                "Write args=(batch,)."
            )
        self._require_cross_replica("run")
        frame = current_frame()
        args, kwargs = tuple(args), dict(kwargs or {})
        with entered(self), collective_options(self._collectives):
            if frame is None:
                return self._step(fn)(*args, **kwargs)
            if frame.mesh != self._mesh:
                raise WrongMeshError(frame.mesh, self._mesh)
            return run_in_replicas(frame, fn, args, kwargs)

    def run_steps(self, fn: Callable[[Any], Any], iterator: Iterator[Any], steps: int) -> Any:
        """Runs a training step on each of the next batches, all in one compiled program.

        For steps that take less time than it takes to ask for them.

        Args:
            fn: what is done with a batch, between the replicas: the function with `run` and `reduce` in it,
                a `tf.function` or not. It returns values that are one for all replicas.
            iterator: over a distributed dataset.
            steps: how many batches; at the end of the data there may be fewer.

        Returns:
            What `fn` returned for each batch: its result, with one axis more in front of every array.

        Raises:
            OutOfRangeError: there is no batch.
            ValueError: `steps` is not positive.
            TypeError: `iterator` is none, or gives batches that are not distributed; `steps` is no integer.
            spmd.StepOutputError: `fn` returned values of single replicas.
            RuntimeError: called inside a replica.

        Examples:
            >>> import numpy as np
            >>> from frontends import tf
            >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
            >>> rows = tf.data.Dataset.from_tensor_slices(np.arange(8.0)).batch(2)
            >>> iterator = iter(strategy.experimental_distribute_dataset(rows))
            >>> def train(batch):
            ...     return strategy.reduce("SUM", strategy.run(tf.reduce_sum, (batch,)), axis=None)
            >>> strategy.run_steps(train, iterator, 3).tolist()
            [1.0, 5.0, 9.0]

        Source: no TensorFlow symbol; TensorFlow's users write `for _ in tf.range(steps)` in a `tf.function`, which
        works too, and asks for every step.
        """
        steps = operator.index(steps)
        if steps < 1:
            raise ValueError(f"strategy.run_steps needs steps of at least 1, but got {steps}.")
        if not isinstance(iterator, Iterator):
            raise TypeError(
                f"strategy.run_steps takes batches from an iterator, but got a {type(iterator).__name__}. Make "
                "one for the whole pass: iterator = iter(dist_dataset)."
            )
        self._require_cross_replica("run_steps")
        fn = getattr(fn, "python_function", fn)  # of a tf.function: all becomes one program

        def make() -> Repetition:
            return Repetition(fn, self._mesh, state=[STREAM])

        repeated = self._kept(("run_steps", function_key(fn)), fn, make)
        with entered(self):
            try:
                return repeated(map(_require_distributed, iterator), steps)
            except StopIteration:
                raise OutOfRangeError from None

    def reduce(self, reduce_op: Any, value: Any, axis: int | tuple[int, ...] | None) -> Any:
        """Combines per-replica values into one.

        Args:
            reduce_op: `tf.distribute.ReduceOp.SUM`, `MEAN`, or its name.
            value: nested structure of per-replica values.
            axis: None combines elementwise over replicas; a number, or a tuple of them, also along
                this axis of the values. Padding rows are left out.

        Returns:
            The structure, with one array for each value.

        Raises:
            ValueError: unknown reduction or axis; the sum, with no axis, of a value that is not
                per-replica; or, with no axis, rows of a partial batch that do not face each other.
            TypeError: a value is `tf.IndexedSlices`, whose row numbers are not to be reduced.
            RuntimeError: called inside a replica.

        Examples:
            >>> from frontends import tf
            >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
            >>> losses = strategy.run(lambda: 1.5)
            >>> float(strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None))
            1.5

        Source: `tf.distribute.Strategy.reduce`.
        """
        op = op_name(reduce_op)

        def one(leaf: Any) -> Any:
            leaf = _without_variable(leaf)
            if _is_per_replica(leaf):
                return spmd.reduce(leaf, op, axis)
            if is_slices(leaf):
                raise TypeError(
                    "strategy.reduce got tf.IndexedSlices. Combine them in the replica: "
                    f"tf.distribute.get_replica_context().all_reduce({op.upper()!r}, slices)."
                )
            return self._reduce_plain(op, leaf, axis)

        return jax.tree.map(
            one, value, is_leaf=lambda leaf: _is_per_replica(leaf) or is_slices(leaf)
        )

    def verify(
        self, step: Callable[..., Any], batch: Any = None, *, args: Any = None
    ) -> spmd.Verification:
        """Compares a training step on one device with the same step on all replicas.

        Runs it with a full and with partial batches from the same state, compares loss, gradients,
        variables and metrics, and says in words what differs. The state is as before afterwards.

        Args:
            step: what one replica does: the function that `run` gets.
            batch: its argument, one global batch of arrays, or one of a distributed dataset.
            args: instead of `batch`, all positional arguments, as for `run`; all of them are batches.

        Returns:
            What was found; print it.

        Raises:
            RuntimeError: called inside a replica.
            TypeError: `step` is a `tf.function`, which runs the strategy itself.

        Examples:
            >>> import numpy as np
            >>> from frontends import tf
            >>> strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
            >>> weight = tf.Variable(1.0)
            >>> def step(x):
            ...     with tf.GradientTape() as tape:
            ...         loss = tf.nn.compute_average_loss(weight * x)
            ...     context = tf.distribute.get_replica_context()
            ...     gradient = context.all_reduce("SUM", tape.gradient(loss, weight))
            ...     weight.assign_sub(gradient)
            ...     return loss
            >>> print(strategy.verify(step, np.ones(3, np.float32)))
            The step does the same on 1 device and on 2, with 3, 2, 1 rows.

        Source: no TensorFlow symbol.
        """
        self._require_cross_replica("verify")
        if hasattr(step, "experimental_get_tracing_count"):
            raise TypeError(
                f"verify takes one replica's function, the one that strategy.run gets, but got {step!r}. "
                "Write strategy.verify(train_step, batch)."
            )
        function = step
        if args is not None:
            batch = tuple(args)

            def function(batch: Any) -> Any:
                return step(*batch)

        alone = Strategy(spmd.make_mesh([self._mesh.devices.flat[0]]))

        def around(mesh: Mesh) -> contextlib.AbstractContextManager[None]:
            return in_force(self if mesh == self._mesh else alone)

        return spmd.verify(function, batch, self._mesh, around=around)

    def gather(self, value: Any, axis: int) -> Any:
        """Concatenates per-replica values along an axis; padding rows are left out.

        Args:
            value: nested structure of per-replica values with at least one axis.
            axis: the axis.

        Returns:
            The structure, with one array for each value.

        Raises:
            ValueError: there is no such axis.
            RuntimeError: called inside a replica.

        Examples:
            >>> from frontends import tf
            >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
            >>> dataset = tf.data.Dataset.range(3).batch(2)
            >>> for batch in strategy.experimental_distribute_dataset(dataset):
            ...     print(strategy.gather(batch, axis=0))
            [0 1]
            [2]

        Source: `tf.distribute.Strategy.gather`.
        """
        self._require_cross_replica("gather")

        def one(leaf: Any) -> Any:
            leaf = _without_variable(leaf)
            return spmd.gather(leaf, axis) if _is_per_replica(leaf) else leaf

        return jax.tree.map(one, value, is_leaf=_is_per_replica)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Lists what the replicas of this process have.

        Args:
            value: nested structure of per-replica values, variables and plain ones.

        Returns:
            One structure for every replica, in order, plain values repeated; a plain value alone. Of
            a `tf.Variable` the value on every replica. Inside a replica, what it has itself.

        Raises:
            RuntimeError: called inside a replica, for values of all of them.

        Examples:
            >>> from frontends import tf
            >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
            >>> [
            ...     float(value)
            ...     for value in strategy.experimental_local_results(strategy.run(lambda: 2.0))
            ... ]
            [2.0]

        Source: `tf.distribute.Strategy.experimental_local_results`.
        """
        leaves, structure = jax.tree.flatten(value, is_leaf=_is_per_replica)
        if in_replica() and not any(map(_is_per_replica, leaves)):
            return (value,)
        columns = {i: found for i, v in enumerate(leaves) if (found := self._local_values(v))}
        if not columns:
            return (value,)
        count = len(next(iter(columns.values())))
        return tuple(
            structure.unflatten(
                columns[i][replica] if i in columns else leaf for i, leaf in enumerate(leaves)
            )
            for replica in range(count)
        )

    def experimental_distribute_dataset(
        self, dataset: Any, options: InputOptions | None = None
    ) -> DistributedDataset:
        """Splits the global batches of a dataset over the replicas, ahead of use.

        A batch of L rows goes to N replicas by `ceil(L / N)` rows each, first replicas first. In a cluster
        every process reads all of the data, and places the rows of its own replicas; the dataset's
        `tf.data.experimental.AutoShardPolicy` may give each process files of its own (`FILE`) or leave
        dividing the data to the script (`OFF`).

        GPUs and TPUs apply the last map functions of a `tf.data.Dataset` of rows in memory, if these make rows
        larger, so that pixels travel as bytes.

        Args:
            dataset: a batched `tf.data.Dataset`, or any source that `spmd.distribute` takes.
            options: accepted.

        Returns:
            An iterable of batches whose leaves are per-replica values.

        Raises:
            spmd.BatchError: while iterating, if elements have no batch axis.
            NotImplementedError: the options ask for a pipeline per replica, as in TensorFlow.
            RuntimeError: called inside a replica.

        Examples:
            >>> from frontends import tf
            >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
            >>> dataset = tf.data.Dataset.range(6).batch(4)
            >>> batches = strategy.experimental_distribute_dataset(dataset)
            >>> [int(strategy.reduce("SUM", batch, axis=0)) for batch in batches]
            [6, 9]

        Source: `tf.distribute.Strategy.experimental_distribute_dataset`.
        """
        self._require_cross_replica("experimental_distribute_dataset")
        if _pipeline_per_replica(options):
            raise NotImplementedError(
                "InputReplicationMode.PER_REPLICA makes a pipeline for each replica, so it needs a "
                "function that makes one: strategy.distribute_datasets_from_function(make, options)."
            )
        if isinstance(dataset, DistributedDataset):
            raise TypeError(
                "This dataset is distributed already. Distribute a tf.data.Dataset once, and iterate "
                "over the result."
            )
        return distributed(dataset, self._mesh)

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: InputOptions | None = None
    ) -> DistributedDataset:
        """Distributes a dataset that a function makes; its batches are per replica.

        Args:
            dataset_fn: takes an `InputContext`, and returns a dataset of per-replica batches. Each
                replica takes the next batch.
            options: with `experimental_replication_mode` `PER_REPLICA`, the function is called for
                each replica, whose batches all come from its own dataset. Otherwise accepted.

        Returns:
            An iterable of batches whose leaves are per-replica values.

        Raises:
            RuntimeError: called inside a replica.

        Examples:
            >>> from frontends import tf
            >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
            >>> def make(context):
            ...     return tf.data.Dataset.range(6).batch(context.get_per_replica_batch_size(3))
            >>> for batch in strategy.distribute_datasets_from_function(make):
            ...     print(strategy.gather(batch, axis=0))
            [0 1 2]
            [3 4 5]

        Source: `tf.distribute.Strategy.distribute_datasets_from_function`.
        """
        self._require_cross_replica("distribute_datasets_from_function")
        replicas = self.num_replicas_in_sync
        each = len(self._mesh.local_devices) if _pipeline_per_replica(options) else 1
        processes = jax.process_count() if spans_processes(self._mesh) else 1
        dataset, *others = [
            dataset_fn(
                InputContext(
                    num_input_pipelines=each * processes,
                    input_pipeline_id=each * (jax.process_index() if processes > 1 else 0) + index,
                    num_replicas_in_sync=replicas,
                )
            )
            for index in range(each)
        ]
        source = dataset
        if others:

            def source() -> Iterator[Any]:
                # Batch by batch, the replicas take turns.
                return itertools.chain.from_iterable(zip(dataset, *others, strict=False))

        batches = spmd.distribute(
            source, self._mesh, per_replica=True, drop_remainder=_only_full_batches(dataset)
        )
        return DistributedDataset(batches, dataset, replicas, per_replica=True)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_distribute_values_from_function(
        self, value_fn: Callable[[ValueContext], Any]
    ) -> Any:
        """Makes a per-replica value out of one value for each replica.

        Args:
            value_fn: takes a `ValueContext`, and returns one replica's value, a nested structure of
                arrays or numbers of the same shapes for all; the number of rows may differ.

        Returns:
            The structure, with per-replica values.

        Raises:
            ValueError: the shapes differ between replicas, after the first axis.
            TypeError: devices cannot hold the values, such as texts.
            RuntimeError: called inside a replica.

        Examples:
            >>> from frontends import tf
            >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
            >>> numbers = strategy.experimental_distribute_values_from_function(
            ...     lambda context: context.replica_id_in_sync_group + 1.0
            ... )
            >>> float(strategy.reduce("SUM", numbers, axis=None))
            1.0

        Source: `tf.distribute.Strategy.experimental_distribute_values_from_function`.
        """
        self._require_cross_replica("experimental_distribute_values_from_function")
        replicas = self.num_replicas_in_sync
        values = [value_fn(ValueContext(index, replicas)) for index in range(replicas)]
        sharding = NamedSharding(self._mesh, PartitionSpec(REPLICA_AXIS))
        return jax.tree.map(lambda *leaves: stack_replicas(list(leaves), sharding), *values)

    def __repr__(self) -> str:
        platform = self._mesh.devices.flat[0].platform
        return f"{type(self).__name__}({self.num_replicas_in_sync} x {platform})"

    def __deepcopy__(self, memo: Any) -> "Strategy":
        # Models that keep a strategy are copied, but devices and compiled steps are shared.
        return self

    def _step(self, fn: Callable[..., Any]) -> "spmd.Step[..., Any]":
        if not callable(fn):
            raise TypeError(
                f"strategy.run needs a function to run on every replica, but got {fn!r} of type "
                f"{type(fn).__name__}. Pass the function itself: strategy.run(step, args=(batch,))."
            )

        def make() -> "spmd.Step[..., Any]":
            return spmd.Step(fn, self._mesh, state=[STREAM], keep_per_replica=True)

        return self._kept(function_key(fn), fn, make)

    def _kept(self, key: Hashable, fn: Any, make: Callable[[], _Made]) -> _Made:
        """Returns what was made for a function before, or makes it."""
        with self._lock:
            if key not in self._steps:
                self._warn_of_copies(fn)
                self._steps[key] = (fn, make())
                if len(self._steps) > _MAX_STEPS:
                    self._steps.popitem(last=False)
            self._steps.move_to_end(key)
            return self._steps[key][1]

    def _warn_of_copies(self, fn: Any) -> None:
        """Warns if functions made by the same lines, but bound to other objects, are compiled anew."""
        names = getattr(_code(fn), "co_freevars", ())
        count = 1 + sum(_code(known) is _code(fn) for known, _ in self._steps.values())
        if names and count in _WARN_AT:
            warnings.warn(
                f"The strategy compiled the function {fn.__name__!r} {count} times, because objects that it closes "
                f"over are others each time (it closes over {', '.join(names)}). Compiling takes far "
                "longer than a step: make other objects once, and let what changes be a tf.Variable, or an "
                "argument, strategy.run(step, args=(batch, value)).",
                spmd.RecompilationWarning,
                stacklevel=user_stacklevel(),
            )

    def _local_values(self, leaf: Any) -> tuple[Any, ...]:
        """Lists what the replicas have of a leaf; nothing, if it is the same for all."""
        if _is_per_replica(leaf):
            return spmd.local_values(leaf)
        values = getattr(leaf, "values", ()) if isinstance(leaf, spmd.Variable) else ()
        return values if 1 < len(values) == len(self.extended.holders) else ()

    def _reduce_plain(self, op: str, value: Any, axis: Any) -> Any:
        """Reduces a value that all replicas share, by TensorFlow's rule: along an axis, each has it."""
        self._require_cross_replica("reduce")
        array = value if isinstance(value, jax.Array) else np.asarray(value)
        replicas = self.num_replicas_in_sync
        if axis is not None:
            check_axis(axis, array.ndim)
            return array.mean(axis) if op == "mean" else array.sum(axis) * replicas
        traced = isinstance(array, Tracer)
        if op == "sum" and replicas > 1 and (traced or np.any(array != 0)):
            raise ValueError(
                f"strategy.reduce('SUM', {value!r}) got one value that all replicas share, not one "
                "value per replica, so it cannot say whether it counts once or once per replica. "
                "Reduce what strategy.run(...) returned."
            )
        return value

    def _require_cross_replica(self, name: str) -> None:
        if in_replica():
            raise RuntimeError(
                f"strategy.{name} was called inside a function that a strategy runs. Call it outside; "
                "inside use tf.distribute.get_replica_context()."
            )


def _code(fn: Any) -> Any:
    return getattr(fn, "__code__", None)


def _only_full_batches(dataset: Any) -> bool:
    """Tells whether a dataset was batched with `drop_remainder`: then its shapes are all known.

    TensorFlow runs such a dataset's last step only if all replicas got a batch.
    """
    specs = jax.tree.leaves(getattr(dataset, "element_spec", None))
    shapes = [getattr(spec, "shape", (None,)) for spec in specs]
    return bool(shapes) and all(shape and shape[0] is not None for shape in shapes)


def _pipeline_per_replica(options: InputOptions | None) -> bool:
    return (
        options is not None
        and options.experimental_replication_mode is InputReplicationMode.PER_REPLICA
    )


def _without_variable(leaf: Any) -> Any:
    return leaf.per_replica() if hasattr(leaf, "per_replica") else leaf


def _require_distributed(batch: Any) -> Any:
    leaves = jax.tree.leaves(batch)
    if not all(map(_is_per_replica, leaves)) or not leaves:
        kinds = sorted({type(leaf).__name__ for leaf in leaves if not _is_per_replica(leaf)})
        raise TypeError(
            f"strategy.run_steps needs distributed batches, but got a batch of {', '.join(kinds) or 'nothing'}. "
            "Distribute the dataset: iterator = iter(strategy.experimental_distribute_dataset(dataset))."
        )
    return batch


def _is_per_replica(value: Any) -> bool:
    return isinstance(value, (PerReplica, TracedPerReplica))
