"""`tf.distribute.StrategyExtended`: what optimizers and libraries call on a strategy.

A variable is one value here, not a component on each device. So `reduce_to` and `broadcast_to` give one
array, and `update` calls its function once.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax

from frontends.tf._typing import Device, Nested, TensorLike, VariableLike
from frontends.tf.data import Dataset
from frontends.tf.distribute.device_names import long_name
from frontends.tf.distribute.options import CollectiveHints
from frontends.tf.distribute.reduce_op import ReduceOp
from frontends.tf.distribute.scope import StrategyLike, entered, require_cross_replica
from spmd.replica import PerReplica, is_per_replica
from spmd.topology import layout_of


class StrategyExtended:
    """TensorFlow's second interface to a strategy, for code that handles variables itself.

    Examples:
        >>> from frontends import tf
        >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
        >>> strategy.extended.worker_devices
        ('/job:localhost/replica:0/task:0/device:CPU:0',)

    Attributes:
        workers: the devices that `worker_devices` names.
        holders: the devices that `parameter_devices` names.

    Source: `tf.distribute.StrategyExtended`.
    """

    experimental_require_static_shapes = False

    def __init__(self, strategy: StrategyLike) -> None:
        """Makes the `extended` object of a strategy."""
        self._strategy = strategy
        layout = layout_of(strategy.mesh)
        # Of a replica with several devices, TensorFlow names the first.
        self.workers: tuple[Device, ...] = tuple(
            layout.replica_devices[replica][0] for replica in layout.own_replicas
        )
        self.holders: tuple[Device, ...] = self.workers

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """Names of the devices of this process that compute, one per replica.

        Raises:
            RuntimeError: no strategy was chosen.

        Source: `tf.distribute.StrategyExtended.worker_devices`.
        """
        return self._names("worker_devices", self.workers)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """Names of the devices that hold variables.

        Raises:
            RuntimeError: no strategy was chosen.

        Source: `tf.distribute.StrategyExtended.parameter_devices`.
        """
        return self._names("parameter_devices", self.holders)

    def non_slot_devices(self, var_list: object) -> tuple[str, ...]:
        """Names the devices for variables that belong to no other one.

        Source: `tf.distribute.StrategyExtended.non_slot_devices` of TensorFlow 1.
        """
        return self.parameter_devices

    def reduce_to(
        self,
        reduce_op: ReduceOp | str,
        value: Nested,
        destinations: object,
        options: CollectiveHints | None = None,
    ) -> Any:
        """Combines per-replica values into one.

        Raises:
            ValueError: unknown reduction, or the sum of a value that is not per-replica.
            RuntimeError: called inside a replica.

        Source: `tf.distribute.StrategyExtended.reduce_to`.
        """
        return self._strategy.reduce(reduce_op, value, axis=None)

    def batch_reduce_to(
        self,
        reduce_op: ReduceOp | str,
        value_destination_pairs: Iterable[tuple[Any, Any]],
        options: CollectiveHints | None = None,
    ) -> list[Any]:
        """Combines several per-replica values into one each; see `reduce_to`.

        Raises:
            ValueError: as for `reduce_to`.
            RuntimeError: called inside a replica.

        Source: `tf.distribute.StrategyExtended.batch_reduce_to`.
        """
        return [
            self.reduce_to(reduce_op, value, destination, options)
            for value, destination in value_destination_pairs
        ]

    def broadcast_to(self, tensor: TensorLike, destinations: object) -> Any:
        """Returns a value as it is: one array is on every device.

        Raises:
            RuntimeError: called inside a replica.

        Source: `tf.distribute.StrategyExtended.broadcast_to` of TensorFlow 1.
        """
        require_cross_replica("extended.broadcast_to")
        return tensor

    def update(
        self,
        var: VariableLike,
        fn: Callable[..., Any],
        args: Sequence[Nested] = (),
        kwargs: Mapping[str, Nested] | None = None,
        group: bool = True,
    ) -> Any:
        """Calls a function that updates a variable, in cross-replica context.

        What differs here: it is called once, because a variable has one value.

        Args:
            var: the variable.
            fn: takes the variable, then the arguments.
            args: the same for all replicas; combine per-replica values first.
            kwargs: likewise.
            group: whether to return the function's result; else a tuple of it for each device that holds parameters.

        Raises:
            ValueError: an argument differs between replicas, so that copies would diverge.
            RuntimeError: called inside a replica.

        Source: `tf.distribute.StrategyExtended.update`.
        """
        require_cross_replica("extended.update")
        whole_args, whole_kwargs = jax.tree.map(
            self._whole, (tuple(args), dict(kwargs or {})), is_leaf=is_per_replica
        )
        with entered(self._strategy):
            result = fn(var, *whole_args, **whole_kwargs)
        return result if group else (result,) * len(self.holders)

    def update_non_slot(
        self,
        colocate_with: VariableLike,
        fn: Callable[..., Any],
        args: Sequence[Nested] = (),
        kwargs: Mapping[str, Nested] | None = None,
        group: bool = True,
    ) -> Any:
        """Calls a function that updates variables which belong to no other one.

        Raises:
            ValueError: as for `update`.
            RuntimeError: called inside a replica.

        Source: `tf.distribute.StrategyExtended.update_non_slot` of TensorFlow 1.
        """
        return self.update(colocate_with, lambda _, *a, **k: fn(*a, **k), args, kwargs, group)

    def call_for_each_replica(
        self,
        fn: Callable[..., Any],
        args: Sequence[Nested] = (),
        kwargs: Mapping[str, Nested] | None = None,
    ) -> Any:
        """Runs a function on every replica; see `Strategy.run`.

        Source: `tf.distribute.StrategyExtended.call_for_each_replica` of TensorFlow 1.
        """
        return self._strategy.run(fn, args, kwargs)

    def read_var(self, v: VariableLike) -> Any:
        """Reads a variable.

        Source: `tf.distribute.StrategyExtended.read_var` of TensorFlow 1.
        """
        return v.read_value()

    def value_container(self, value: VariableLike) -> Any:
        """Returns the variable itself, which is its only component.

        Source: `tf.distribute.StrategyExtended.value_container`.
        """
        return value

    def variable_created_in_scope(self, v: VariableLike) -> bool:
        """Tells whether a variable was made in this strategy's scope; True for all where none was chosen.

        Source: `tf.distribute.StrategyExtended.variable_created_in_scope`.
        """
        if self._strategy.is_default:
            return True
        return getattr(v, "_strategy", None) is self._strategy

    @staticmethod
    def colocate_vars_with(
        colocate_with_variable: object,
    ) -> contextlib.AbstractContextManager[None]:
        """Does nothing: all variables are on the same devices.

        Source: `tf.distribute.StrategyExtended.colocate_vars_with`.
        """
        return contextlib.nullcontext()

    @staticmethod
    def experimental_make_numpy_dataset(numpy_input: Nested, session: object = None) -> Dataset:
        """Makes a dataset of single rows of arrays: batch it, then distribute it.

        Raises:
            ValueError: there is no array, one is a scalar, or two of them differ in length.

        Source: `tf.distribute.StrategyExtended.experimental_make_numpy_dataset` of TensorFlow 1.
        """
        return Dataset.from_tensor_slices(numpy_input)

    make_experimental_numpy_dataset = experimental_make_numpy_dataset

    def _whole(self, leaf: TensorLike) -> Any:
        if not is_per_replica(leaf):
            return leaf
        if self._strategy.num_replicas_in_sync > 1:
            raise ValueError(
                f"extended.update got {leaf!r}, which differs between replicas, and a variable has one "
                "value. Combine it first: strategy.extended.reduce_to('SUM', value, variable)."
            )
        return leaf.values[0] if isinstance(leaf, PerReplica) else leaf.block

    def _names(self, name: str, devices: Iterable[Device]) -> tuple[str, ...]:
        if self._strategy.is_default:
            raise RuntimeError(
                f"{name} is unsupported where no strategy was chosen. Use the scope of one: "
                "with tf.distribute.MirroredStrategy().scope():"
            )
        return tuple(map(long_name, devices))
