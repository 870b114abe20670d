"""How gradients travel: one by one, or in packs; at once over all replicas, or in two levels.

In *two levels*, the replicas of a group (the devices of a machine, say) first add up and share out a pack, each
takes its part to the other groups, and then they put the whole together again. Between groups so travels only
one part in so many, where those connections are slow.
"""

import contextlib
import contextvars
import dataclasses
from collections.abc import Generator, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from spmd.collectives import all_reduce
from spmd.mesh import REPLICA_AXIS


@dataclasses.dataclass(frozen=True)
class CollectiveOptions:
    """How gradients are summed over replicas.

    Attributes:
        bytes_per_pack: gradients are joined to packs of so many bytes; 0 leaves that to XLA.
        group_size: replicas of a group, to sum in two levels; 0, or what does not divide the number of
            replicas, sums at once.

    Raises:
        ValueError: a number is negative.

    Examples:
        >>> import jax.numpy as jnp, spmd
        >>> def step():
        ...     tx = spmd.sum_over_replicas()
        ...     ones = [jnp.ones(3), jnp.ones(())]
        ...     return tx.update(ones, tx.init(ones))[0]
        >>> mesh = spmd.make_mesh([f"cpu:{i}" for i in range(4)])
        >>> with collective_options(CollectiveOptions(group_size=2)):
        ...     program = spmd.Step(step, mesh).lower()
        >>> [(collective.name, collective.bytes) for collective in program.collectives]
        [('reduce_scatter', 16), ('psum', 8), ('all_gather', 8)]

    Source: `tf.distribute.experimental.CommunicationOptions`, `tf.distribute.HierarchicalCopyAllReduce`.
    """

    bytes_per_pack: int = 0
    group_size: int = 0

    def __post_init__(self) -> None:
        for name in ("bytes_per_pack", "group_size"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be 0 or more, but is {getattr(self, name)}.")


_PLAIN = CollectiveOptions()

_OPTIONS: contextvars.ContextVar[CollectiveOptions] = contextvars.ContextVar(
    "spmd_collective_options", default=_PLAIN
)


@contextlib.contextmanager
def collective_options(options: CollectiveOptions) -> Generator[None]:
    """Says how gradients travel in steps that are traced meanwhile, on this thread.

    Args:
        options: how.
    """
    token = _OPTIONS.set(options)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


def sum_in_packs(gradients: Any) -> Any:
    """Sums a pytree over replicas, in packs as the options say.

    Args:
        gradients: pytree of arrays, in a replica.

    Returns:
        The sums.
    """
    options, replicas = _OPTIONS.get(), jax.lax.axis_size(REPLICA_AXIS)
    size = options.group_size
    grouped = 1 < size < replicas and replicas % size == 0
    if not grouped and not options.bytes_per_pack:
        return all_reduce(gradients)
    leaves, structure = jax.tree.flatten(gradients)
    # What has no elements need not travel, and is then equal on all.
    sums = [leaf if jnp.size(leaf) else jnp.zeros_like(leaf) for leaf in map(jnp.asarray, leaves)]
    for pack in _packs(sums, options.bytes_per_pack):
        # Apart from the rest: XLA would compute each element anew where it is copied.
        parts = jax.lax.optimization_barrier([sums[index].ravel() for index in pack])
        flat = jnp.concatenate(parts)
        flat = _in_two_levels(flat, size, replicas) if grouped else all_reduce(flat)
        start = 0
        for index in pack:
            leaf = sums[index]
            sums[index] = flat[start : start + leaf.size].reshape(leaf.shape)
            start += leaf.size
    return jax.tree.unflatten(structure, sums)


def _packs(leaves: Sequence[jax.Array], size: int) -> Iterator[list[int]]:
    """Yields the indices of leaves that travel together: of one type, in order, up to a size."""
    by_type: dict[Any, list[int]] = {}
    for index, leaf in enumerate(leaves):
        if leaf.size:
            by_type.setdefault(leaf.dtype, []).append(index)
    for indices in by_type.values():
        pack: list[int] = []
        room = size
        for index in indices:
            if pack and size and leaves[index].nbytes > room:
                yield pack
                pack, room = [], size
            pack.append(index)
            room -= leaves[index].nbytes
        yield pack


def _in_two_levels(flat: jax.Array, size: int, replicas: int) -> jax.Array:
    """Sums a vector; the proof knows these three operations, one after the other, as one reduction."""
    groups = [list(range(start, start + size)) for start in range(0, replicas, size)]
    across = [list(range(first, replicas, size)) for first in range(size)]
    padded = jnp.pad(flat, (0, -flat.size % size))
    part = jax.lax.psum_scatter(padded, REPLICA_AXIS, axis_index_groups=groups, tiled=True)
    part = jax.lax.psum(part, REPLICA_AXIS, axis_index_groups=across)
    whole = jax.lax.all_gather(part, REPLICA_AXIS, axis_index_groups=groups, tiled=True)
    return whole[: flat.size]
