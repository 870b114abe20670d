"""Arrays on disk, with Orbax: written by all processes at the same time, read straight onto their devices."""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from spmd.checkpoint.array_entry import ArrayEntry
from spmd.typing import AnyArray


def write(directory: str, arrays: Mapping[str, AnyArray], timeout: float) -> Callable[[], None]:
    """Begins to write arrays. All processes must call it.

    Blocks until the arrays may change: copies of them are in host memory.

    Args:
        directory: to write into; must not exist.
        arrays: by name. Those without elements are not written.
        timeout: seconds that a process waits for the others.

    Returns:
        A function that any thread calls once: it writes the rest, waits for that, and raises what went
        wrong. It does not use the devices.
    """
    several = jax.process_count() > 1
    _start_host_copies(arrays.values())
    whole = {
        # Processes cannot write together what only one of them holds; it is the same everywhere.
        name: _copy(array) if not several or _is_local(array) else array
        for name, array in arrays.items()
        if array.size
    }
    if not whole:
        return lambda: None
    ocp, checkpointer = _orbax(), _checkpointer(timeout)
    begin = functools.partial(checkpointer.save, directory, args=ocp.args.PyTreeSave(whole))
    if several:  # Orbax copies the parts that this process writes
        begin()
        return checkpointer.wait_until_finished

    def write_copies() -> None:
        begin()
        checkpointer.wait_until_finished()

    return write_copies


def read(
    directory: str, targets: Mapping[str, tuple[ArrayEntry, AnyArray]], timeout: float
) -> dict[str, AnyArray]:
    """Reads some arrays. All processes must call it; it blocks until they are read.

    Args:
        directory: that they were written into.
        targets: by name, the description of an array and the array that it replaces; it goes to the same devices.
        timeout: seconds that a process waits for the others.

    Returns:
        The arrays, by name.
    """
    full = {name: target for name, target in targets.items() if 0 not in target[0].shape}
    found = _read(directory, full, timeout) if full else {}
    return {
        name: _placed(
            found[name] if name in found else np.zeros(entry.shape, entry.dtype), entry, target
        )
        for name, (entry, target) in targets.items()
    }


def _read(
    directory: str, targets: Mapping[str, tuple[ArrayEntry, AnyArray]], timeout: float
) -> dict[str, AnyArray]:
    ocp = _orbax()
    shapes = {
        name: jax.ShapeDtypeStruct(entry.shape, jnp.dtype(entry.dtype))
        for name, (entry, _) in targets.items()
    }
    arguments = {
        name: ocp.ArrayRestoreArgs(sharding=target.sharding)
        if isinstance(target, jax.Array) and target.committed
        else ocp.RestoreArgs(restore_type=np.ndarray)
        for name, (_, target) in targets.items()
    }
    return _checkpointer(timeout).restore(
        directory,
        args=ocp.args.PyTreeRestore(item=shapes, restore_args=arguments, partial_restore=True),
    )


def _orbax() -> Any:
    # Slow to import, and most scripts that import this package save nothing.
    import orbax.checkpoint

    return orbax.checkpoint


@functools.cache
def _checkpointer(timeout: float) -> Any:
    """Makes the Orbax checkpointer; cached, because its threads take a while to start."""
    ocp = _orbax()
    kinds = ocp.type_handlers
    return ocp.AsyncCheckpointer(
        ocp.PyTreeCheckpointHandler(
            use_ocdbt=True,
            use_zarr3=True,
            type_handler_registry=kinds.create_type_handler_registry(
                (jax.Array, kinds.ArrayHandler()),
                (np.ndarray, kinds.NumpyHandler(deepcopy_host_arrays=False)),  # they are copies
            ),
        ),
        async_options=ocp.options.AsyncOptions(timeout_secs=max(1, round(timeout))),
    )


def _is_local(array: AnyArray) -> bool:
    return not isinstance(array, jax.Array) or array.is_fully_addressable


def _start_host_copies(arrays: Iterable[AnyArray]) -> None:
    """Starts copying all arrays to host memory at once, where devices have memory of their own."""
    for array in arrays:
        if isinstance(array, jax.Array) and array.is_fully_addressable:
            array.copy_to_host_async()


def _copy(array: AnyArray) -> np.ndarray[Any, Any]:
    """Copies an array to host memory that no step reuses."""
    host = np.asarray(array)
    # For sharded arrays, and those in a device's memory, this is a copy already; else it aliases the array.
    if isinstance(array, jax.Array) and (not array.is_fully_replicated or _is_on_device(array)):
        return host
    return host.copy()


def _is_on_device(array: jax.Array) -> bool:
    on_cpu = any(device.platform == "cpu" for device in array.devices())
    return not on_cpu and array.sharding.memory_kind == "device"


def _placed(value: AnyArray, entry: ArrayEntry, target: AnyArray) -> AnyArray:
    """Gives a value the devices of the array that it replaces, and random keys their type."""
    if not isinstance(target, jax.Array):
        return value
    placed = value if isinstance(value, jax.Array) else _on_devices_of(target, value)
    return jax.random.wrap_key_data(placed, impl=entry.prng) if entry.prng else placed


def _on_devices_of(target: jax.Array, value: np.ndarray[Any, Any]) -> jax.Array:
    if target.committed:
        return jax.device_put(value, target.sharding)
    # Weakly typed like the array that it replaces, it leaves the dtype to other operands.
    weak = value.ndim == 0 and getattr(target, "weak_type", False)
    return jnp.asarray(value.item() if weak else value)
