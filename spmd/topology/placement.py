"""Arrays over the devices of several processes: placed without communication, read where they lie.

A mesh may have devices of other processes. An array over it is whole in none of them: a process makes and
reads the parts on its own devices. What is *whole* (every device has all of it) it can read at once.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding

from spmd.topology.layout import Layout
from spmd.topology.placement_log import log_placed, logs_placements
from spmd.typing import AnyArray

# Bytes of an array that the host copies: JAX may keep the host's copy, and copies it once more when it is donated.
_MAX_HOST_COPY = 2**22

# Kinds of arrays that were placed on a single CPU device: for more like them a program is worth its compiling.
_SEEN: set[Any] = set()
_MAX_SEEN = 16


def spans_processes(mesh: Mesh) -> bool:
    """Tells whether a mesh has devices of other processes.

    Args:
        mesh: any mesh.

    Examples:
        >>> import spmd
        >>> spans_processes(spmd.make_mesh(["cpu:0"]))
        False
    """
    return jax.process_count() > 1 and mesh.is_multi_process


def place(value: Any, sharding: Sharding) -> jax.Array:
    """Puts an array that this process has in full on the devices of a sharding.

    Each process puts what its own devices are to hold; nothing is compared. (`jax.device_put` onto devices
    of other processes compares the values, one collective for each array.)

    Args:
        value: an array on the host or on a device of this process; or one over several processes that is
            whole on each device.
        sharding: where it goes.

    Returns:
        The array, of the same shape.

    Examples:
        >>> import numpy as np, spmd
        >>> from spmd.topology.layout import layout_of
        >>> mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
        >>> placed = place(np.ones((4, 3)), layout_of(mesh).rows)
        >>> [part.data.shape for part in placed.addressable_shards]
        [(2, 3), (2, 3)]

    Source: `jax.make_array_from_callback`, which takes no random keys.
    """
    log_placed("array", value if hasattr(value, "dtype") else np.asarray(value), sharding)
    if sharding.is_fully_addressable:
        return jax.device_put(value, sharding)
    value = readable(value) if isinstance(value, jax.Array) else np.asarray(value)
    spans = sharding.addressable_devices_indices_map(value.shape)
    parts = [jax.device_put(value[span], device) for device, span in spans.items()]
    return jax.make_array_from_single_device_arrays(value.shape, sharding, parts)


def place_all(values: Sequence[Any], sharding: Sharding) -> list[jax.Array]:
    """Puts several arrays on the devices of a sharding.

    Args:
        values: as for `place`.
        sharding: where they go.

    Returns:
        The arrays.
    """
    if not sharding.is_fully_addressable:
        return [place(value, sharding) for value in values]
    if logs_placements():
        for value in values:
            log_placed("array", value, sharding)
    if [device.platform for device in sharding.device_set] != ["cpu"]:
        return jax.device_put(values, sharding)  # one call is faster than many
    kind = sharding, *((type(value), value.shape, value.dtype) for value in values)
    if kind in _SEEN and not jax.config.jax_debug_nans:  # type: ignore[attr-defined]
        return _passed_through(sharding)(values)
    placed = jax.device_put(values, sharding)
    if len(_SEEN) < _MAX_SEEN and all(type(value) is np.ndarray for value in values):
        _SEEN.add(kind)
    return placed


def place_own(values: Sequence[AnyArray], layout: Layout) -> jax.Array:
    """Puts the blocks of this process's replicas on their devices.

    Args:
        values: one block for each replica of this process, of one shape `(rows, ...)`, in order.
        layout: of the mesh.

    Returns:
        The array over the mesh, of shape `(replicas * rows, ...)`.
    """
    rows, *rest = values[0].shape
    shape = (layout.replicas * rows, *rest)
    log_placed("array", jax.ShapeDtypeStruct(shape, values[0].dtype), layout.rows)
    spans = layout.rows.addressable_devices_indices_map(shape)
    # Without rows every block begins at 0, and any of them will do.
    starts = sorted({_start(span) for span in spans.values()})
    blocks = dict(zip(starts, values, strict=rows > 0))
    parts = [jax.device_put(blocks[_start(span)], device) for device, span in spans.items()]
    return jax.make_array_from_single_device_arrays(shape, layout.rows, parts)


def readable(array: jax.Array) -> jax.Array:
    """Returns what a process can read of an array that is whole on each of its devices.

    Args:
        array: an array; over the devices of several processes, or not.

    Returns:
        The same values on a device of this process. The array itself, if it is of this process only, not
        whole, or traced.

    Examples:
        >>> import jax.numpy as jnp
        >>> readable(jnp.ones(3)).tolist()
        [1.0, 1.0, 1.0]
    """
    if isinstance(array, Tracer) or array.is_fully_addressable or not array.is_fully_replicated:
        return array
    return array.addressable_data(0)


def copied(value: jax.Array, sharding: Sharding) -> jax.Array:
    """Copies an array to the devices of a sharding, into memory that nothing else uses.

    Args:
        value: as for `place`; or with this sharding already.
        sharding: where the copy goes.

    Returns:
        The copy. It can be donated.
    """
    if _can_be_copied_by_host(value, sharding):
        parts = [jax.device_put(np.array(value), device) for device in sharding.device_set]
        return jax.make_array_from_single_device_arrays(value.shape, sharding, parts)
    # device_put alone may share memory with its argument, whatever may_alias says, and donating the one
    # would then delete the other.
    if sharding.is_fully_addressable:
        return jax.device_put(jnp.copy(value), sharding)
    if value.sharding != sharding:
        return place(jnp.copy(readable(value)), sharding)
    # Part by part: jnp.copy would be a program of all processes, and the others may not need a copy.
    parts = [jnp.copy(part.data) for part in value.addressable_shards]
    return jax.make_array_from_single_device_arrays(value.shape, sharding, parts)


def _can_be_copied_by_host(value: Any, sharding: Sharding) -> bool:
    """Tells whether the host is to copy an array at once: `jnp.copy` compiles a program for each shape."""
    return (
        sharding.is_fully_addressable
        and sharding.is_fully_replicated
        and value.is_fully_addressable
        and value.nbytes <= _MAX_HOST_COPY
        and all(device.platform == "cpu" for device in sharding.device_set)
        and not jnp.issubdtype(value.dtype, jax.dtypes.extended)
        and not value.weak_type
        and not value.is_deleted()  # jnp.copy raises the error that callers recognise
        and bool(value.is_ready())
    )


def brought_together(values: Sequence[Any]) -> list[Any] | None:
    """Brings arrays of this process that are on different devices to the same ones.

    They go where the first one is that is whole on each of its devices, or else to the first one's first device.

    Args:
        values: arrays, and whatever else, which stays as it is.

    Returns:
        The values; None if there is nothing to bring together: the arrays are on the same devices, traced, or not
        of this process alone.

    Examples:
        >>> import jax, jax.numpy as jnp
        >>> first, second = (jax.device_put(1.0, device) for device in jax.devices("cpu")[:2])
        >>> together = brought_together([first, second])
        >>> float(sum(together)), brought_together(together)
        (2.0, None)
    """
    placed = [value for value in values if _is_placed(value)]
    if len({frozenset(value.sharding.device_set) for value in placed}) < 2:
        return None
    if not all(value.is_fully_addressable for value in placed):
        return None
    first = next((value.sharding for value in placed if value.is_fully_replicated), None)
    if isinstance(first, NamedSharding):
        first = NamedSharding(first.mesh, PartitionSpec())  # for arrays of any rank
    target = placed[0].addressable_shards[0].device if first is None else first
    return [jax.device_put(value, target) if _is_placed(value) else value for value in values]


def _is_placed(value: Any) -> bool:
    """Tells whether JAX would not move a value by itself."""
    return not isinstance(value, Tracer) and isinstance(value, jax.Array) and value.committed


def _start(span: Any) -> int:
    return span[0].start or 0


@functools.lru_cache(maxsize=_MAX_SEEN)
def _passed_through(sharding: Sharding) -> Callable[[Sequence[Any]], list[jax.Array]]:
    """Makes a program that returns its arguments: it takes a fourth of the time of `device_put`."""
    return jax.jit(list, in_shardings=sharding, out_shardings=sharding)
