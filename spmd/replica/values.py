"""What crosses the border of a step: one value per replica, and batches whose rows are split.

A *per-replica value* (`PerReplica`) is one `jax.Array` over the mesh that holds one block per replica.
Two layouts exist. *Stacked*: the result of a step; the blocks are stacked along a new first axis.
*Rows*: a batch, or a result with one entry per row of a batch; the blocks are concatenated along the
rows, and every block has the same number of rows.

A batch that does not fill its blocks is *padded*: a `RowMask` says which rows are *valid*. The other
rows repeat a valid row, so that arithmetic on them stays finite; nobody may count them.
"""

import abc
import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, cast

import jax
import numpy as np
from jax.core import Tracer

from spmd.errors import Remedy
from spmd.replica.array_like import ArrayLike, array_of
from spmd.replica.context import current_frame
from spmd.replica.rows import RowLayout
from spmd.topology import layout_of, num_replicas, place


@dataclasses.dataclass(frozen=True)
class RowMask:
    """Which rows of a batch are valid.

    Attributes:
        array: bool array of shape `(replicas * rows_per_replica,)`, split over the replicas.
        counts: valid rows of every replica; the valid rows of a block come first.
        rows_per_replica: rows of a block, padding included.
    """

    # It follows from the counts, by which masks are compared.
    array: jax.Array = dataclasses.field(compare=False, repr=False)
    counts: tuple[int, ...]
    rows_per_replica: int

    @property
    def padded(self) -> bool:
        """Whether any row is padding."""
        return any(count < self.rows_per_replica for count in self.counts)


# What a per-replica value has besides its array: replicas, stacked, mask.
_Static: TypeAlias = tuple[int, bool, RowMask | None]


class ReplicaValue(ArrayLike):
    """One value for each replica. If there is only one replica, code may use it as the value itself."""

    __slots__ = ()

    @abc.abstractmethod
    def _count(self) -> int:
        """How many replicas there are."""

    @abc.abstractmethod
    def _first(self) -> jax.Array:
        """What the first replica has."""

    def __jax_array__(self) -> jax.Array:
        if self._count() > 1:
            raise TypeError(
                f"{self!r} is one value for each of {self._count()} replicas, not a number or an array. "
                f"Let each replica compute with its own: {Remedy.RUN_ON_REPLICAS.spelled(value='value')}. Or make one of "
                f"them: {Remedy.REDUCE.spelled(value='value')}."
            )
        return self._first()

    def numpy(self) -> Any:
        """Copies the only replica's value to host memory, a scalar to a NumPy scalar.

        Returns:
            A NumPy array or scalar.

        Raises:
            TypeError: there are several replicas.

        Source: `tf.Tensor.numpy`; with one replica, TensorFlow's strategies give plain tensors.
        """
        value = self.__jax_array__()
        if isinstance(value, Tracer):
            raise AttributeError(
                "numpy() was called on a per-replica value while a function is traced: its values "
                "are not known yet. Return it from the function, and call numpy() on what that gives. "
                f"To look at it in the function, write {Remedy.PRINT_TRACED.spelled()}."
            )
        return np.array(value)[()]

    def __bool__(self) -> bool:
        return self._count() > 1 or bool(self.__jax_array__())

    def __format__(self, specification: str) -> str:
        several = self._count() > 1 and not specification
        return str(self) if several else format(self.__jax_array__(), specification)

    def __str__(self) -> str:
        return repr(self) if self._count() > 1 else str(self._first())

    def __eq__(self, other: object) -> Any:
        return self._first() == array_of(other) if self._count() == 1 else NotImplemented

    def __ne__(self, other: object) -> Any:
        return self._first() != array_of(other) if self._count() == 1 else NotImplemented

    def __hash__(self) -> int:
        return id(self)


class PerReplica(ReplicaValue):
    """One value per replica, kept on the devices as one array over the mesh.

    Iterate over it, or index it by replica; `values` has all of them. Reading waits for the step
    that computes it. In a process of several, only the values of this process's replicas can be read.

    With one replica it stands for this replica's value in arithmetic, for `jnp.asarray` and in
    formatting, and has `numpy()`; indexing and iteration still go by replica.

    It is a pytree whose one leaf is `array`: `jax.tree.map`, `jax.block_until_ready` and a function of
    `jax.jit` see the global array, padding included.

    Attributes:
        host: the rows on the host, if they are there, see `on_host`.
        placed: the array on the devices; None while the rows are on the host only.
        num_replicas: how many replicas there are, those of other processes included.
        stacked: whether the blocks are stacked along a new axis (else: concatenated).
        mask: the valid rows, or None if the value has no rows.
        key: shape, type, layout and sharding.

    Examples:
        >>> import jax, spmd
        >>> step = spmd.Step(lambda: spmd.replica_id() * 10, spmd.make_mesh(["cpu"]))
        >>> step().values[0]
        Array(0, dtype=int32)
        >>> jax.tree.map(lambda array: array + 1, step()).values[0]
        Array(1, dtype=int32)

    Source: `tf.distribute.DistributedValues`.
    """

    __slots__ = ("host", "key", "mask", "num_replicas", "placed", "stacked")

    def __init__(
        self, array: jax.Array, num_replicas: int, *, stacked: bool, mask: RowMask | None = None
    ) -> None:
        """Wraps an array over the mesh.

        Args:
            array: shape `(replicas, ...)` if stacked, else `(replicas * rows, ...)`, split over the
                replicas along its first axis.
            num_replicas: how many blocks there are.
            stacked: the layout, see above.
            mask: valid rows; of a stacked value, it means that the first axis of each block counts
                rows.
        """
        # Plain attributes, because every step reads them; nobody should set them.
        self.placed: jax.Array | None = array
        self.host: np.ndarray[Any, Any] | None = None
        self.num_replicas = num_replicas
        self.stacked = stacked
        self.mask = mask
        # What a compiled program depends on.
        self.key: tuple[Any, ...] = (array.shape, array.dtype, stacked, array.sharding)

    @classmethod
    def on_host(
        cls,
        rows: np.ndarray[Any, Any],
        sharding: jax.sharding.Sharding,
        mask: RowMask | None = None,
    ) -> "PerReplica":
        """Wraps rows of the only replica that stay on the host, until something reads them as an array on the device.

        A step gives them to its program, without a transfer of their own.

        Args:
            rows: shape `(rows, ...)`, without padding. Nobody may write to them.
            sharding: how they lie on the device.
            mask: all rows are valid.

        Examples:
            >>> import numpy as np, spmd
            >>> from spmd.topology import layout_of
            >>> layout = layout_of(spmd.make_mesh(["cpu:0"]))
            >>> rows = PerReplica.on_host(np.ones((2, 3), np.float32), layout.rows)
            >>> rows.shape, rows.array.sharding == layout.rows
            ((2, 3), True)
        """
        value = object.__new__(cls)
        value.placed, value.host = None, rows
        value.num_replicas, value.stacked, value.mask = 1, False, mask
        value.key = (rows.shape, rows.dtype, False, sharding)
        return value

    @property
    def array(self) -> jax.Array:
        """The array over the mesh, padding included."""
        if self.placed is None and self.host is not None:
            self.placed = place(self.host, self.key[3])
        return cast(jax.Array, self.placed)

    @property
    def mesh(self) -> jax.sharding.Mesh:
        """The mesh that the value is split over."""
        sharding = self.key[3]
        assert isinstance(sharding, jax.sharding.NamedSharding)  # made with no other
        return cast(jax.sharding.Mesh, sharding.mesh)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one replica's block, padding included; of the only replica, of its valid rows."""
        shape = self.block_shape
        if self.num_replicas > 1 or self.mask is None:
            return shape
        return (self.mask.counts[0], *shape[1:])

    @property
    def block_shape(self) -> tuple[int, ...]:
        """Shape of one replica's block, padding included."""
        shape = self.key[0]
        return shape[1:] if self.stacked else (self._block_rows(), *shape[1:])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the elements."""
        return self.key[1]

    @property
    def values(self) -> tuple[jax.Array, ...]:
        """The value of every replica of this process, in order; padding is left out."""
        return tuple(self._block(index) for index in self._local_replicas())

    def block_until_ready(self) -> "PerReplica":
        """Waits until the value is computed.

        Returns:
            The same object.
        """
        self.array.block_until_ready()
        return self

    def __len__(self) -> int:
        return self.num_replicas

    def __iter__(self) -> Iterator[jax.Array]:
        return iter(self.values)

    def __getitem__(self, index: int) -> jax.Array:
        if not -self.num_replicas <= index < self.num_replicas:
            raise IndexError(
                f"There is no replica {index}: this value has {self.num_replicas} replica(s), "
                f"0 to {self.num_replicas - 1}."
            )
        return self._block(index % self.num_replicas)

    def __array__(
        self, dtype: jax.typing.DTypeLike | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        del copy
        return np.asarray(self._first() if self.num_replicas == 1 else self.values, dtype)

    def _count(self) -> int:
        return self.num_replicas

    def _first(self) -> jax.Array:
        return self._block(0)

    def __repr__(self) -> str:
        if isinstance(self.array, jax.Array):
            values = {i: np.asarray(self._block(i)) for i in self._local_replicas()}
            if sum(value.size for value in values.values()) <= 64:
                inner = ", ".join(f"{i}: {_plain(value)}" for i, value in values.items())
                return f"PerReplica({inner})"
        return f"PerReplica({self.num_replicas} x {self.dtype}{list(self.shape)})"

    def _block(self, replica: int) -> jax.Array:
        rows = None if self.mask is None else self.mask.counts[replica]
        block = self._stored_block(replica)
        return block if rows is None or rows == block.shape[0] else block[:rows]

    def _stored_block(self, replica: int) -> jax.Array:
        size = self._block_rows()
        for shard in self.array.addressable_shards:
            start, stop = self._span(shard)
            if start <= replica * size < stop:
                local = shard.data[replica * size - start : (replica + 1) * size - start]
                return local[0] if self.stacked else local
        raise IndexError(
            f"Replica {replica} belongs to another process; this one holds the replicas "
            f"{list(self._local_replicas())}. Reduce or gather the value to read it everywhere."
        )

    def _local_replicas(self) -> list[int]:
        size = self._block_rows()
        local: set[int] = set()
        for shard in self.array.addressable_shards:
            start, stop = self._span(shard)
            local.update(range(start // size, stop // size))
        return sorted(local)

    def _block_rows(self) -> int:
        return 1 if self.stacked else self.key[0][0] // self.num_replicas

    def _span(self, shard: jax.Shard) -> tuple[int, int]:
        # Not by the shape of its data: without elements, XLA returns the whole as every shard.
        start, stop, _ = shard.index[0].indices(self.array.shape[0])
        return start, stop


def _flatten(value: PerReplica) -> tuple[tuple[jax.Array], _Static]:
    return (value.array,), (value.num_replicas, value.stacked, value.mask)


def _flatten_with_key(value: PerReplica) -> tuple[list[tuple[Any, jax.Array]], _Static]:
    return [(jax.tree_util.GetAttrKey("array"), value.array)], _flatten(value)[1]


def _unflatten(static: _Static, leaves: Iterable[Any]) -> PerReplica:
    # Not by __init__: while JAX transforms, anything may stand for the array.
    value = object.__new__(PerReplica)
    (array,) = leaves
    value.placed, value.host = array, None
    value.num_replicas, value.stacked, value.mask = static
    shape, dtype, sharding = (getattr(array, name, None) for name in ("shape", "dtype", "sharding"))
    value.key = (shape, dtype, value.stacked, sharding)
    return value


jax.tree_util.register_pytree_with_keys(PerReplica, _flatten_with_key, _unflatten, _flatten)


@dataclasses.dataclass(frozen=True, eq=False)
class TracedPerReplica(ReplicaValue):
    """A per-replica value inside of a step that is being traced, seen from between the replicas.

    Attributes:
        block: the traced value that one replica has.
        mask: valid rows of the block, or None if it has no rows.
        source: index of the mask among those of the step's arguments.
    """

    block: jax.Array
    mask: jax.Array | None = None
    source: int | None = None

    @property
    def num_replicas(self) -> int:
        """How many replicas there are."""
        frame = current_frame()
        return 1 if frame is None else num_replicas(frame.mesh)

    def _count(self) -> int:
        return self.num_replicas

    def _first(self) -> jax.Array:
        return self.block


def is_per_replica(value: object) -> bool:
    """Tells whether a value has one part for each replica; for `jax.tree`, with `is_leaf`."""
    return isinstance(value, PerReplica | TracedPerReplica)


def mask_of_lengths(lengths: tuple[int, ...], mesh: jax.sharding.Mesh) -> RowMask:
    """Makes the mask of blocks that are as long as the longest of them.

    Args:
        lengths: valid rows of every replica.
        mesh: with one replica for each.
    """
    rows = RowLayout(lengths, max(lengths))
    return RowMask(place(rows.mask, layout_of(mesh).rows), lengths, rows.rows_per_replica)


def _plain(value: np.ndarray[Any, Any]) -> str:
    return np.array2string(value, separator=", ", precision=6)
