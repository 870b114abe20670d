"""Arrays on disk, with Orbax: written by all processes at the same time, read straight to where they belong."""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from spmd.checkpoint.graph import Entry


def write(directory: str, arrays: Mapping[str, Any], timeout: float) -> Callable[[], None]:
    """Takes arrays to be written. All processes must call it.

    Blocks until the arrays may change: copies of them are in host memory.

    Args:
        directory: where to; must not exist.
        arrays: by name. Those without elements are not written.
        timeout: seconds that one process waits for the others.

    Returns:
        A function to be called once, by any thread: it writes what is left, waits for it, and raises what went
        wrong. It does not use the devices.
    """
    several = jax.process_count() > 1
    _start_for_host(arrays.values())
    whole = {
        # What one process alone holds cannot be written by all; what it holds is the same everywhere.
        name: _copy(array) if not several or _is_local(array) else array
        for name, array in arrays.items()
        if array.size
    }
    if not whole:
        return lambda: None
    ocp, checkpointer = _orbax(), _checkpointer(timeout)
    begin = functools.partial(checkpointer.save, directory, args=ocp.args.PyTreeSave(whole))
    if several:  # Orbax copies the parts that this process is to write
        begin()
        return checkpointer.wait_until_finished

    def write_copies() -> None:
        begin()
        checkpointer.wait_until_finished()

    return write_copies


def read(
    directory: str, targets: Mapping[str, tuple[Entry, Any]], timeout: float
) -> dict[str, Any]:
    """Reads some arrays. All processes must call it; it blocks until they are there.

    Args:
        directory: where they were written.
        targets: by name, the description of the array and the array whose place it takes; it goes where
            that one is.
        timeout: seconds that one process waits for the others.

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


def _read(directory: str, targets: Mapping[str, tuple[Entry, Any]], timeout: float) -> Any:
    ocp = _orbax()
    shapes = {
        name: jax.ShapeDtypeStruct(entry.shape, jnp.dtype(entry.dtype))
        for name, (entry, _) in targets.items()
    }
    arguments = {
        name: ocp.ArrayRestoreArgs(sharding=target.sharding)
        if _has_place(target)
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
    """Makes what writes and reads; kept, because its threads take a while to start."""
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


def _is_local(array: Any) -> bool:
    return not isinstance(array, jax.Array) or array.is_fully_addressable


def _start_for_host(arrays: Iterable[Any]) -> None:
    """Has arrays start for host memory all at once, where devices have memory of their own."""
    for array in arrays:
        if isinstance(array, jax.Array) and array.is_fully_addressable:
            array.copy_to_host_async()


def _copy(array: Any) -> np.ndarray[Any, Any]:
    """Makes an array in host memory that no step reuses."""
    host = np.asarray(array)
    # Of what lies in parts, or in a device's memory, this is a copy already; else the memory of the array itself.
    if isinstance(array, jax.Array) and (not array.is_fully_replicated or _is_on_device(array)):
        return host
    return host.copy()


def _is_on_device(array: jax.Array) -> bool:
    on_cpu = any(device.platform == "cpu" for device in array.devices())
    return not on_cpu and array.sharding.memory_kind == "device"


def _has_place(target: Any) -> bool:
    """Whether a value is bound to devices; others go wherever they are used."""
    return isinstance(target, jax.Array) and target.committed


def _placed(value: Any, entry: Entry, target: Any) -> Any:
    if not isinstance(target, jax.Array):
        return value
    if not isinstance(value, jax.Array):
        if _has_place(target):
            value = jax.device_put(value, target.sharding)
        else:
            # Made of a Python number as the former was, it goes on to leave the type to other operands.
            plain = value.ndim == 0 and getattr(target, "weak_type", False)
            value = jnp.asarray(value.item() if plain else value)
    return jax.random.wrap_key_data(value, impl=entry.prng) if entry.prng else value


def misfit(entry: Entry, target: Any) -> str | None:
    """Compares a saved array with the one whose place it takes.

    Args:
        entry: of the saved array.
        target: the other.

    Returns:
        What the other one is, if they do not fit.
    """
    prng = None
    if jnp.issubdtype(target.dtype, jax.dtypes.prng_key):
        prng, target = str(jax.random.key_impl(target)), jax.eval_shape(jax.random.key_data, target)
    held = Entry(entry.name, tuple(target.shape), target.dtype.name, prng)
    return None if held == entry else str(held)
