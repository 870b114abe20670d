"""How gradients are summed over replicas: in buckets, in one level or two, with all their bits or fewer.

A *bucket* is several gradients of one type that travel as one array. XLA makes buckets on GPU and TPU; on the CPU
it does not, so small gradients are joined here: a network of many layers takes half the time on simulated devices,
and a tenth over processes (`python -m tests.benchmarks gradient_packs`).

In *two levels*, the replicas of a group (the devices of a machine, say) reduce and scatter a bucket among
themselves, sum each part with the other groups, and gather the whole again. So each replica sends only its part over
the slow connections between groups.
"""

import dataclasses
import sys
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from spmd.assigned import assigned
from spmd.replica.axis import axis_size, take_turns
from spmd.replica.collectives import all_reduce
from spmd.replica.context import current_frame, replica_axis
from spmd.topology import platform_of


@dataclasses.dataclass(frozen=True)
class CollectiveOptions:
    """How gradients are summed over replicas.

    Attributes:
        bucket_bytes: size of a bucket; 0 leaves that to XLA, and takes 1 MiB on the CPU. There, gradients over
            64 KiB travel alone, since copying them costs more than it saves.
        group_size: replicas of a group, to sum in two levels; 0, or a number that does not divide the number of
            replicas, sums in one.
        compression: "bfloat16" sends and sums float32 gradients with half the bits; empty sends them as they are.

    Raises:
        ValueError: a number is negative, or there is no such compression.

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

    bucket_bytes: int = 0
    group_size: int = 0
    compression: str = ""

    def __post_init__(self) -> None:
        if self.compression not in ("", "bfloat16"):
            raise ValueError(f"compression must be 'bfloat16' or '', but is {self.compression!r}.")
        for name in ("bucket_bytes", "group_size"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be 0 or more, but is {getattr(self, name)}.")


_PLAIN = CollectiveOptions()

_Tree = TypeVar("_Tree")

_CPU_BUCKET = 2**20
_CPU_LARGE = 2**16

_OPTIONS: ContextVar[CollectiveOptions] = ContextVar("spmd_collective_options", default=_PLAIN)


def collective_options(options: CollectiveOptions) -> AbstractContextManager[CollectiveOptions]:
    """Sets how steps that are traced in the block, on this thread, sum gradients."""
    return assigned(_OPTIONS, options)


def sum_in_buckets(gradients: _Tree) -> _Tree:
    """Sums a pytree of a replica's arrays over replicas, in buckets as the options say."""
    options, replicas = _OPTIONS.get(), axis_size()
    if replicas == 1:
        return all_reduce(gradients)
    size = options.group_size
    grouped = 1 < size < replicas and replicas % size == 0 and take_turns() is None
    leaves, structure = jax.tree.flatten(gradients)
    sums = [jnp.asarray(leaf) for leaf in leaves]
    types = [leaf.dtype for leaf in sums]
    if options.compression:
        sums = [
            leaf.astype(options.compression) if leaf.dtype == jnp.float32 else leaf for leaf in sums
        ]
    buckets, alone = _buckets(sums, *_sizes(options, grouped))
    if grouped:
        buckets, alone = buckets + [[index] for index in alone], []
    for index, total in zip(alone, all_reduce([sums[index] for index in alone]), strict=True):
        sums[index] = total
    for bucket in buckets:
        flat = jnp.concatenate([sums[index].ravel() for index in bucket])
        flat = _in_two_levels(flat, size, replicas) if grouped else all_reduce(flat)
        start = 0
        for index in bucket:
            leaf = sums[index]
            sums[index] = flat[start : start + leaf.size].reshape(leaf.shape)
            start += leaf.size
    sums = [total.astype(dtype) for total, dtype in zip(sums, types, strict=True)]
    return jax.tree.unflatten(structure, sums)


def _sizes(options: CollectiveOptions, grouped: bool) -> tuple[int, int]:
    """Returns the bytes of a bucket, and those of the largest gradient that joins one."""
    frame = current_frame()
    if frame is not None and platform_of(frame.mesh) == "cpu":
        size = options.bucket_bytes or _CPU_BUCKET
        return size, min(size, _CPU_LARGE)
    size = options.bucket_bytes or (sys.maxsize if grouped else 0)
    return size, size


def _buckets(leaves: list[jax.Array], size: int, largest: int) -> tuple[list[list[int]], list[int]]:
    """Returns the indices of the leaves in each bucket (of one type, in order), and of those that travel alone."""
    buckets: list[list[int]] = []
    alone: list[int] = []
    by_type: dict[np.dtype[Any], list[int]] = {}
    for index, leaf in enumerate(leaves):
        if not leaf.size:
            leaves[index] = jnp.zeros_like(leaf)  # need not travel, and is equal on all replicas
        elif leaf.nbytes > largest:
            alone.append(index)
        else:
            by_type.setdefault(leaf.dtype, []).append(index)
    for indices in by_type.values():
        room = 0
        for index in indices:
            if leaves[index].nbytes > room:
                buckets.append([])
                room = size
            buckets[-1].append(index)
            room -= leaves[index].nbytes
    alone += [bucket[0] for bucket in buckets if len(bucket) == 1]
    return [bucket for bucket in buckets if len(bucket) > 1], sorted(alone)


def _in_two_levels(flat: jax.Array, size: int, replicas: int) -> jax.Array:
    """Sums a vector by three operations in sequence, which the proof recognises as one reduction."""
    groups = [list(range(start, start + size)) for start in range(0, replicas, size)]
    across = [list(range(first, replicas, size)) for first in range(size)]
    axis = replica_axis()
    padded = jnp.pad(flat, (0, -flat.size % size))
    part = jax.lax.psum_scatter(padded, axis, axis_index_groups=groups, tiled=True)
    part = jax.lax.psum(part, axis, axis_index_groups=across)
    whole = jax.lax.all_gather(part, axis, axis_index_groups=groups, tiled=True)
    return whole[: flat.size]
