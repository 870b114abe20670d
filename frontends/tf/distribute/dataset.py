"""Distributed datasets and their iterators: the engine's input under TensorFlow's names."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, TypeAlias, TypeVar, final

import jax
import jax.numpy as jnp
from jax.sharding import Mesh

import spmd
from frontends.tf._typing import Nested
from frontends.tf.data.constants import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from frontends.tf.data.iterator import ElementIterator
from frontends.tf.data.spec import TensorSpec
from frontends.tf.data.tracing import check_may_read
from frontends.tf.distribute.values import PerReplicaSpec
from frontends.tf.ragged.spec import RaggedTensorSpec
from frontends.tf.sparse.spec import SparseTensorSpec
from spmd.input import AnySource, ResumableIterator
from spmd.replica import current_frame, in_replica, share
from spmd.typing import Json

T = TypeVar("T")
# A `TensorSpec` or another spec of one component.
Spec: TypeAlias = Any


@final
class DistributedDataset(Iterable[Any]):
    """Batches whose leaves are per-replica values; every iteration is a new pass.

    `strategy.experimental_distribute_dataset` and `distribute_datasets_from_function` make it. It has a
    length where TensorFlow's has none.

    Examples:
        >>> from frontends import tf
        >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
        >>> batches = strategy.experimental_distribute_dataset(tf.data.Dataset.range(5).batch(2))
        >>> isinstance(batches, tf.distribute.DistributedDataset), len(batches)
        (True, 3)
        >>> batches.element_spec
        TensorSpec(shape=(None,), dtype=int64, name=None)

    Source: `tf.distribute.DistributedDataset`.
    """

    def __init__(
        self,
        batches: spmd.input.DistributedInput,
        source: AnySource,
        replicas: int,
        *,
        per_replica: bool,
    ) -> None:
        """Wraps the engine's input; `per_replica` if a batch of the source is one replica's."""
        self._batches = batches
        self._source = source
        self._replicas = replicas
        self._per_replica = per_replica

    @property
    def element_spec(self) -> Nested:
        """Shape and type of an element's components, per replica.

        Raises:
            TypeError: the source is not a `tf.data.Dataset`, so its elements are not known.

        Source: `tf.distribute.DistributedDataset.element_spec`.
        """
        if not hasattr(self._source, "element_spec"):
            raise TypeError(
                f"The element_spec of {type(self._source).__name__} is not known before it is read. "
                "Distribute a tf.data.Dataset."
            )
        return jax.tree.map(self._local_spec, self._source.element_spec)

    @property
    def cardinality(self) -> jax.Array:
        """How many steps a pass has; -1 if it has no end, -2 if unknown.

        Source: `tf.distribute.DistributedDataset.cardinality`.
        """
        try:
            return jnp.asarray(len(self._batches))
        except TypeError:
            cardinality: Any = getattr(self._source, "cardinality", None)
            endless = callable(cardinality) and cardinality() == INFINITE_CARDINALITY
            return jnp.asarray(INFINITE_CARDINALITY if endless else UNKNOWN_CARDINALITY)

    @property
    def mesh(self) -> Mesh:
        """The devices that batches are split over."""
        return self._batches.mesh

    @property
    def batch_size(self) -> int | None:
        """Rows of a full batch over all replicas; see `spmd.input.DistributedInput.batch_size`."""
        return self._batches.batch_size

    @property
    def rows_per_replica(self) -> int | None:
        """Rows of a replica's block; see `spmd.input.DistributedInput.rows_per_replica`."""
        return self._batches.rows_per_replica

    def reduce(self, initial_state: T, reduce_func: Callable[[T, Any], T]) -> T:
        """Combines all elements, in order: `reduce_func` takes the state and an element, and returns the new state.

        Source: `tf.distribute.DistributedDataset.reduce`.
        """
        return functools.reduce(reduce_func, self, initial_state)

    def __iter__(self) -> "DistributedIterator":
        if in_replica():
            raise ValueError(
                "A distributed dataset was iterated in a function that strategy.run calls. Iterate "
                "outside, and pass the batch: strategy.run(step, args=(next(iterator),))."
            )
        check_may_read()
        return DistributedIterator(iter(self._batches), self)

    def get_state(self) -> dict[str, Any]:
        """Returns how far the latest pass has come, for a checkpoint; see `spmd.input.DistributedInput`."""
        return self._batches.get_state()

    def set_state(self, state: dict[str, Any]) -> None:
        """Makes the next pass continue where `get_state` of another one was called."""
        self._batches.set_state(state)

    def position(self) -> Json:
        """Returns what the order of the next pass depends on, as that of a `tf.data.Dataset`."""
        return self._batches.position()

    def __len__(self) -> int:
        return len(self._batches)

    def __bool__(self) -> bool:
        return True  # as TensorFlow's, which has no length: `if dataset:` asks whether there is one

    def __repr__(self) -> str:
        return f"DistributedDataset({self._batches!r})"

    def _local_spec(self, spec: Spec) -> Spec:
        if not isinstance(spec, TensorSpec | RaggedTensorSpec | SparseTensorSpec):
            return spec
        shape = spec.shape
        if shape and shape[0] is not None and not self._per_replica:
            even = shape[0] % self._replicas == 0
            shape = (share(shape[0], self._replicas) if even else None, *shape[1:])
        local: Any = dataclasses.replace(spec, shape=shape)
        return local if self._replicas == 1 else PerReplicaSpec((local,) * self._replicas)


@final
class DistributedIterator(ElementIterator):
    """One pass over a distributed dataset; leave it early by `close()`, `with`, or by dropping it.

    Examples:
        >>> from frontends import tf
        >>> strategy = tf.distribute.OneDeviceStrategy("cpu:0")
        >>> batches = strategy.experimental_distribute_dataset(tf.data.Dataset.range(2).batch(2))
        >>> iterator = iter(batches)
        >>> iterator.get_next()
        PerReplica(0: [0, 1])
        >>> bool(iterator.get_next_as_optional().has_value())
        False

    Source: `tf.distribute.DistributedIterator`.
    """

    def __init__(self, batches: ResumableIterator, dataset: DistributedDataset) -> None:
        """Wraps a pass of the engine's over a dataset; `iter(dataset)` does."""
        self._batches = batches
        self._dataset = dataset
        self._given_back: list[Nested] = []  # the next one last

    @property
    def dataset(self) -> DistributedDataset:
        """What it is a pass over."""
        return self._dataset

    def give_back(self, batches: Sequence[Nested]) -> None:
        """Has the next calls hand out batches once more that were the last to be handed out."""
        self._given_back += reversed(batches)

    def __next__(self) -> Nested:
        check_may_read()
        if current_frame() is not None:
            raise ValueError(
                "An iterator of a distributed dataset was asked for a batch inside a compiled step, "
                "which would keep this one batch forever. Take it outside, and pass it: "
                "strategy.run(step, args=(next(iterator),))."
            )
        return self._given_back.pop() if self._given_back else next(self._batches)

    def get_state(self) -> dict[str, Any]:
        """Returns how far the pass has come, for a checkpoint; see `spmd.input.ResumableIterator`."""
        return self._batches.get_state()

    def set_state(self, state: dict[str, Any]) -> None:
        """Continues where `get_state` of another pass over the same data was called."""
        self._given_back.clear()
        self._batches.set_state(state)

    def close(self) -> None:
        """Ends the pass and closes the source's iterator; calling it again does nothing."""
        self._batches.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
