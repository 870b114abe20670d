"""What a program has of values, datasets and iterators that are in the cluster."""

import functools
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import Nested
from frontends.tf.data.constants import INFINITE_CARDINALITY
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.data.iterator import ElementIterator
from frontends.tf.data.tracing import check_may_read
from frontends.tf.distribute.dataset import DistributedDataset, DistributedIterator
from frontends.tf.distribute.standalone import making
from frontends.tf.distribute.values import DistributedValues
from spmd.replica import HostPerReplica, PerReplica, ReplicaValue
from spmd.servers.remote import Kept, Reference, RemoteObject
from spmd.topology import readable


class RemoteValues(RemoteObject, ReplicaValue):
    """One value for each replica, in the cluster; reading it fetches the values of all replicas.

    Attributes:
        num_replicas: how many replicas there are.
        shape: of one replica's value, padding included.
        dtype: type of the elements.
        rows: how many valid rows each replica has; None if the value has no rows.

    Source: `tf.distribute.DistributedValues`.
    """

    def __init__(
        self,
        num_replicas: int,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        rows: tuple[int, ...] | None,
        reference: Reference,
    ) -> None:
        """Makes what stands for values; the gang does."""
        super().__init__(reference)
        self.num_replicas, self.shape, self.dtype, self.rows = num_replicas, shape, dtype, rows

    @functools.cached_property
    def values(self) -> tuple[Any, ...]:
        """The value of every replica, in order; padding is left out."""
        parts = self.gang.each(functools.partial(_values_here, self))
        show = as_tensors if self.dtype.kind in "OSU" else jnp.asarray
        return tuple(show(value) for part in parts for value in part)

    def __len__(self) -> int:
        return self.num_replicas

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __getitem__(self, index: int) -> Any:
        return self.values[index]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        del copy
        return np.asarray(self._first() if self.num_replicas == 1 else self.values, dtype)

    def _count(self) -> int:
        return self.num_replicas

    def _first(self) -> jax.Array:
        return self.values[0]

    def __repr__(self) -> str:
        return f"RemoteValues({self.num_replicas} x {self.dtype}{list(self.shape)})"


DistributedValues.register(RemoteValues)


class RemoteDataset(RemoteObject):
    """A distributed dataset in the cluster, whose workers read it; its batches stay there.

    Attributes:
        element_spec: shape and type of an element's components, per replica; None if they are not known.

    Source: `tf.distribute.DistributedDataset`.
    """

    def __init__(self, element_spec: Nested, cardinality: int, reference: Reference) -> None:
        """Makes what stands for a dataset; the gang does."""
        super().__init__(reference)
        self.element_spec, self._cardinality = element_spec, cardinality

    @property
    def cardinality(self) -> jax.Array:
        """How many steps a pass has; -1 if it has no end, -2 if unknown."""
        return jnp.asarray(self._cardinality)

    def __len__(self) -> int:
        if self._cardinality < 0:
            kind = "has no end" if self._cardinality == INFINITE_CARDINALITY else "is not known"
            raise TypeError(f"The number of batches of this dataset {kind}.")
        return self._cardinality

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        if making.is_making():
            return iter([making.batch_of(self.element_spec)])
        check_may_read()
        return self.gang.call(functools.partial(_iterate, self))

    def __repr__(self) -> str:
        return f"RemoteDataset({self.element_spec!r})"


class RemoteIterator(RemoteObject, ElementIterator):
    """A pass over a distributed dataset, in the cluster.

    Source: `tf.distribute.DistributedIterator`.
    """

    def __init__(self, element_spec: Nested, reference: Reference) -> None:
        """Makes what stands for an iterator; the gang does."""
        super().__init__(reference)
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Nested:
        """Shape and type of an element's components, per replica."""
        return self._element_spec

    def __next__(self) -> Nested:
        if making.is_making():
            return making.batch_of(self._element_spec)
        check_may_read()
        there_is_one, batch = self.gang.call(functools.partial(_advance, self))
        if not there_is_one:
            raise StopIteration
        return batch

    def get_state(self) -> dict[str, Any]:
        """Refuses: the position in the data is in the cluster."""
        raise NotImplementedError(
            "The position of an iterator that is in the cluster cannot be saved from here. Save the number of the step, "
            "and begin there: dataset.skip(step)."
        )

    def set_state(self, state: dict[str, Any]) -> None:
        """Refuses; see `get_state`."""
        self.get_state()


_STAYS = PerReplica, HostPerReplica, DistributedDataset, DistributedIterator


def keep(result: Any) -> Any:
    """Makes of a result what travels: values of the replicas, datasets and iterators stay."""
    return jax.tree.map(_kept, result, is_leaf=lambda leaf: isinstance(leaf, _STAYS))


def _values_here(value: Any) -> list[np.ndarray[Any, Any]]:
    """Lists what the replicas of this process have."""
    return [np.asarray(one) for one in value.values]


def _iterate(dataset: Any) -> Any:
    """Starts a pass over a distributed dataset."""
    return keep(iter(dataset))


def _advance(iterator: Iterator[Any]) -> tuple[bool, Any]:
    """Returns whether there is another batch, and the batch."""
    try:
        return True, keep(next(iterator))
    except StopIteration:
        return False, None


def _kept(leaf: Any) -> Any:
    if isinstance(leaf, PerReplica):
        shape = leaf.block_shape
        rows = None if leaf.mask is None else leaf.mask.counts
        make = functools.partial(RemoteValues, leaf.num_replicas, shape, leaf.dtype, rows)
        return Kept(leaf, make)
    if isinstance(leaf, HostPerReplica):
        make = functools.partial(RemoteValues, leaf.num_replicas, leaf.shape, leaf.dtype, None)
        return Kept(leaf, make)
    if isinstance(leaf, DistributedDataset):
        return Kept(leaf, functools.partial(RemoteDataset, _spec(leaf), int(leaf.cardinality)))
    if isinstance(leaf, DistributedIterator):
        return Kept(leaf, functools.partial(RemoteIterator, _spec(leaf)))
    return readable(leaf) if isinstance(leaf, jax.Array) else leaf


def _spec(distributed: DistributedDataset | ElementIterator) -> Nested:
    try:
        return distributed.element_spec
    except TypeError:  # of no tf.data.Dataset
        return None
