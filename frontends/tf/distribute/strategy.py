"""What all strategies share: where they run, `scope`, `run`, `run_steps` and `verify`."""

import contextlib
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
from jax.sharding import Mesh

import spmd
from frontends.tf._step_state import SEARCHED
from frontends.tf._typing import Nested
from frontends.tf.autograph.converted import converted
from frontends.tf.data.iterator import OutOfRangeError
from frontends.tf.distribute.aliases import StrategyAliases
from frontends.tf.distribute.extended import StrategyExtended
from frontends.tf.distribute.logical_devices import LogicalDevices
from frontends.tf.distribute.options import RunOptions
from frontends.tf.distribute.scope import WrongMeshError, entered, in_force, require_cross_replica
from frontends.tf.host_errors import raises_host_errors
from spmd.replica import (
    CollectiveOptions,
    collective_options,
    current_frame,
    in_replica,
    is_per_replica,
)
from spmd.step import Repetition, StepCache, run_in_replicas


class Strategy(LogicalDevices, StrategyAliases):
    """Where a training step runs, and how replicas are kept equal.

    Make a `MirroredStrategy` or another subclass.

    Attributes:
        is_default: whether it stands for the absence of a strategy, so that its scope changes nothing.
        has_components: whether variables have a value for each replica, as far as a script can tell.
        combines_values: whether values are combined at all; TensorFlow's strategies of one device pass them on.
        requires_aggregation: whether replicas may write only to variables that say how what they write is combined.
        drops_last_step: whether a dataset function's step is left out if not every replica got a batch.

    Source: `tf.distribute.Strategy`.
    """

    is_default: bool = False
    has_components: bool = False
    combines_values: bool = True
    requires_aggregation: bool = False
    drops_last_step: bool = False
    _cluster_resolver: Any = None

    def __init__(self, mesh: Mesh, *, collectives: CollectiveOptions | None = None) -> None:
        """Makes a strategy over a mesh.

        Args:
            mesh: the devices; one per replica, or several where the mesh has a model axis.
            collectives: how gradients travel; None leaves it to XLA.
        """
        self._mesh = mesh
        self.extended = StrategyExtended(self)
        self._collectives = collectives or CollectiveOptions()
        self._steps = StepCache(
            lambda fn: spmd.Step(converted(fn), mesh, state=SEARCHED, keep_per_replica=True)
        )
        self._repetitions = StepCache(lambda fn: Repetition(converted(fn), mesh, SEARCHED))

    @property
    def mesh(self) -> Mesh:
        """The engine's mesh: the devices along the axis `"replica"`, and those of a replica along model axes."""
        return self._mesh

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas train together."""
        return spmd.topology.num_replicas(self._mesh)

    @property
    def cluster_resolver(self) -> Any:
        """What said which tasks there are; None without a cluster."""
        return self._cluster_resolver

    def scope(self) -> contextlib.AbstractContextManager["Strategy"]:
        """Puts the strategy in force for a `with` block, on this thread.

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

    @raises_host_errors
    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Nested] = (),
        kwargs: Mapping[str, Nested] | None = None,
        options: RunOptions | None = None,
    ) -> Any:
        """Runs a function on every replica, as one compiled program.

        Args:
            fn: what one replica does.
            args: positional arguments; per-replica leaves are split, others go whole to each replica.
            kwargs: keyword arguments, likewise.

        Returns:
            The function's result, with per-replica values as leaves.

        Raises:
            ValueError: `args` is neither a tuple nor a list.
            TypeError: `fn` cannot be called, or returns anything but arrays, numbers and texts.
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
        if not isinstance(args, (tuple, list)):
            raise ValueError(
                f"strategy.run needs args as a tuple or list, but got a {type(args).__name__}. "
                "Write args=(batch,)."
            )
        if not callable(fn):
            raise TypeError(
                f"strategy.run needs a function to run on every replica, but got {fn!r} of type "
                f"{type(fn).__name__}. Pass the function itself: strategy.run(step, args=(batch,))."
            )
        require_cross_replica("run")
        frame = current_frame()
        args, kwargs = tuple(args), dict(kwargs or {})
        with entered(self), collective_options(self._collectives):
            if frame is None:
                return self._steps.get(fn)(*args, **kwargs)
            if frame.mesh != self.mesh:
                raise WrongMeshError(frame.mesh, self.mesh)
            return run_in_replicas(frame, converted(fn), args, kwargs)

    @raises_host_errors
    def trace(self, fn: Callable[..., Any], args: Sequence[Nested] = ()) -> None:
        """Traces a function as `run` does, which makes its variables, and does not run it; not a name of TensorFlow.

        Args:
            fn: what one replica does; a later `run` of it uses the trace.
            args: as for `run`.
        """
        require_cross_replica("trace")
        with entered(self), collective_options(self._collectives):
            self._steps.get(fn).trace(*args)

    @raises_host_errors
    def run_steps(self, fn: Callable[[Any], Any], iterator: Iterator[Any], steps: int) -> Any:
        """Runs a training step on each of the next batches, all in one compiled program.

        For steps that take less time than their dispatch.

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
            TypeError: `iterator` is not an iterator, or its batches are not distributed; or `steps` is not an integer.
            spmd.errors.StepOutputError: `fn` returned values of single replicas.
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
        works too, and dispatches each step.
        """
        steps = operator.index(steps)
        if steps < 1:
            raise ValueError(f"strategy.run_steps needs steps of at least 1, but got {steps}.")
        if not isinstance(iterator, Iterator):
            raise TypeError(
                f"strategy.run_steps takes batches from an iterator, but got a {type(iterator).__name__}. Make "
                "one for the whole pass: iterator = iter(dist_dataset)."
            )
        require_cross_replica("run_steps")
        fn = getattr(fn, "python_function", fn)  # of a tf.function: all becomes one program

        repeated = self._repetitions.get(fn)
        with entered(self):
            try:
                return repeated(map(_require_distributed, iterator), steps)
            except StopIteration:
                raise OutOfRangeError from None

    def verify(
        self,
        step: Callable[..., Any],
        batch: Nested = None,
        *,
        args: Sequence[Nested] | None = None,
    ) -> spmd.verification.Verification:
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
        require_cross_replica("verify")
        if hasattr(step, "experimental_get_tracing_count"):
            raise TypeError(
                f"verify takes one replica's function, the one that strategy.run gets, but got {step!r}. "
                "Write strategy.verify(train_step, batch)."
            )
        function = step
        if args is not None:
            batch = tuple(args)

            def function(batch: Nested) -> Any:
                return step(*batch)

        alone = Strategy(spmd.make_mesh([self.mesh.devices.flat[0]]))

        def around(mesh: Mesh) -> contextlib.AbstractContextManager[Any]:
            return in_force(self if mesh == self.mesh else alone)

        return spmd.verify(function, batch, self.mesh, around=around)

    def __repr__(self) -> str:
        kind = spmd.topology.kind_of(self.mesh.devices.flat[0])
        return f"{type(self).__name__}({self.num_replicas_in_sync} x {kind})"

    def __deepcopy__(self, memo: object) -> "Strategy":
        # Models that keep a strategy are copied, but devices and compiled steps are shared.
        return self


def _require_distributed(batch: Nested) -> Any:
    leaves = jax.tree.leaves(batch, is_leaf=is_per_replica)
    if not all(map(is_per_replica, leaves)) or not leaves:
        kinds = sorted({type(leaf).__name__ for leaf in leaves if not is_per_replica(leaf)})
        raise TypeError(
            f"strategy.run_steps needs distributed batches, but got a batch of {', '.join(kinds) or 'nothing'}. "
            "Distribute the dataset: iterator = iter(strategy.experimental_distribute_dataset(dataset))."
        )
    return batch
