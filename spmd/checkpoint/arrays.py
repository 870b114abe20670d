"""Arrays on disk, with Orbax: written by all processes at the same time, read straight onto their devices.

Orbax's handlers read and write, and its checkpointers, which wait for all processes in barriers, are not used: a
process whose write fails would leave the others in one.

Random keys are saved as the numbers that they consist of.
"""

import asyncio
import dataclasses
import functools
import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from spmd.checkpoint.errors import DamagedCheckpointError
from spmd.typing import AnyArray


@dataclasses.dataclass(frozen=True)
class ArrayEntry:
    """One array of a checkpoint.

    Attributes:
        name: its path, such as `model/layers/0/kernel`.
        shape: as saved.
        dtype: name of the dtype, as saved.
        prng: for random keys, the name of their generator.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    prng: str | None = None

    def __str__(self) -> str:
        keys = f", keys of {self.prng}" if self.prng else ""
        return f"{self.dtype}{list(self.shape)}{keys}"


def describe_array(name: str, array: AnyArray) -> ArrayEntry:
    """Describes an array as it is saved."""
    prng = None
    if _is_key(array):
        prng, array = str(jax.random.key_impl(array)), jax.eval_shape(jax.random.key_data, array)
    return ArrayEntry(name, tuple(array.shape), array.dtype.name, prng)


def saved_form(array: AnyArray) -> AnyArray:
    """Returns an array as it is saved: random keys as numbers."""
    return jax.random.key_data(array) if _is_key(array) else array


def _is_key(array: AnyArray) -> bool:
    return jnp.issubdtype(array.dtype, jax.dtypes.prng_key)


class ArrayWriter:
    """Writes arrays: each process its own parts of them. Processes do not wait for each other here.

    The calls, in order: `copy`, `write`, and when all processes have written, `merge` by one of them.
    """

    def __init__(self, directory: str, arrays: Mapping[str, AnyArray]) -> None:
        """Copies what is on this process's devices alone to host memory.

        Args:
            directory: to write into; one process has made it.
            arrays: by name. Those without elements are not written.
        """
        self._several = jax.process_count() > 1
        for array in arrays.values():  # all at once, where devices have memory of their own
            if isinstance(array, jax.Array) and array.is_fully_addressable:
                array.copy_to_host_async()
        self._whole = {
            # Processes cannot write together what only one of them holds; it is the same everywhere.
            name: array
            if self._several and not getattr(array, "is_fully_addressable", True)
            else _copy(array)
            for name, array in arrays.items()
            if array.size
        }
        self._directory = _path(directory)
        self._futures: Sequence[Any] = ()

    def copy(self) -> None:
        """Copies the parts of arrays that this process writes; then the arrays may change."""
        if self._whole and self._several:
            saving = _handler().async_save(
                self._directory, args=_orbax().args.PyTreeSave(self._whole)
            )
            self._futures = asyncio.run(saving) or ()

    def write(self, timeout: float) -> None:
        """Writes; raises what went wrong.

        Args:
            timeout: seconds that it may take.
        """
        if self._whole and not self._several:
            _handler().save(self._directory, args=_orbax().args.PyTreeSave(self._whole))
        for future in self._futures:
            future.result(timeout=timeout)

    def merge(self) -> None:
        """Makes one database of what the processes wrote."""
        if self._whole:
            _handler().finalize(self._directory)


def merge(directory: str) -> None:
    """Makes one database of what several processes wrote, if that was not done when it was written."""
    names = os.listdir(directory)
    if "manifest.ocdbt" not in names and any(name.startswith("ocdbt.process_") for name in names):
        _handler().finalize(_path(directory))


def read(directory: str, targets: Mapping[str, tuple[ArrayEntry, AnyArray]]) -> dict[str, AnyArray]:
    """Reads some arrays; it blocks until they are read, and does not wait for other processes.

    Args:
        directory: that they were written into.
        targets: by name, the description of an array and the array that it replaces; it goes to the same devices.

    Returns:
        The arrays, by name.

    Raises:
        DamagedCheckpointError: an array is not there, or has another shape or dtype than its description.
    """
    found: dict[str, AnyArray] = {}
    shapes: dict[str, jax.ShapeDtypeStruct] = {}
    arguments: dict[str, Any] = {}
    for name, (entry, target) in targets.items():
        if 0 in entry.shape:
            found[name] = np.zeros(entry.shape, entry.dtype)
            continue
        shapes[name] = jax.ShapeDtypeStruct(entry.shape, jnp.dtype(entry.dtype))
        arguments[name] = (
            _orbax().ArrayRestoreArgs(sharding=target.sharding)
            if isinstance(target, jax.Array) and target.committed
            else _orbax().RestoreArgs(restore_type=np.ndarray)
        )
    if shapes:
        wanted = _orbax().args.PyTreeRestore(shapes, restore_args=arguments, partial_restore=True)
        found |= _handler().restore(_path(directory), args=wanted)
        _check_read(directory, found, shapes)
    return {name: _placed(found[name], *target) for name, target in targets.items()}


def _check_read(
    directory: str, found: Mapping[str, Any], shapes: Mapping[str, jax.ShapeDtypeStruct]
) -> None:
    """Compares arrays with their descriptions: Orbax cuts or passes over what does not fit."""
    for name, expected in shapes.items():
        value = found[name]
        if isinstance(value, jax.ShapeDtypeStruct):
            raise DamagedCheckpointError(
                f"{directory} does not hold the array {name!r}, which the manifest of the checkpoint names."
            )
        if (value.shape, value.dtype) != (expected.shape, expected.dtype):
            raise DamagedCheckpointError(
                f"{directory} holds the array {name!r} as {value.dtype}{list(value.shape)}, and the manifest of the "
                f"checkpoint names {expected.dtype}{list(expected.shape)}."
            )


def _orbax() -> Any:
    # Slow to import, and most scripts that import this package save nothing.
    import orbax.checkpoint

    return orbax.checkpoint


def _path(directory: str) -> Any:
    # Slow to import, as Orbax is.
    from etils import epath

    return epath.Path(directory)


def _is_to_be_logged(record: logging.LogRecord) -> bool:
    """Tells whether to log a record: Orbax's threads log tracebacks of errors that are raised anyway."""
    traceback = record.exc_info[2] if isinstance(record.exc_info, tuple) else None
    folder = os.path.dirname(_orbax().__file__)
    return traceback is None or not traceback.tb_frame.f_code.co_filename.startswith(folder)


@functools.cache
def _handler() -> Any:
    """Makes Orbax's reader and writer; cached, because its threads take a while to start."""
    logging.getLogger("absl").addFilter(_is_to_be_logged)
    ocp = _orbax()
    kinds = ocp.type_handlers
    return ocp.PyTreeCheckpointHandler(
        use_ocdbt=True,
        use_zarr3=True,
        type_handler_registry=kinds.create_type_handler_registry(
            (jax.Array, kinds.ArrayHandler()),
            (np.ndarray, kinds.NumpyHandler(deepcopy_host_arrays=False)),  # they are copies
        ),
    )


def _copy(array: AnyArray) -> np.ndarray[Any, Any]:
    """Copies an array to host memory that no step reuses."""
    host = np.asarray(array)
    if isinstance(array, jax.Array):
        # Of sharded arrays, and those in a device's memory, this is a copy already; else it aliases the array.
        on_cpu = any(device.platform == "cpu" for device in array.devices())
        on_device = not on_cpu and array.sharding.memory_kind == "device"
        if on_device or not array.is_fully_replicated:
            return host
    return host.copy()


def _placed(value: AnyArray, entry: ArrayEntry, target: AnyArray) -> AnyArray:
    """Gives a value the devices of the array that it replaces, and random keys their type."""
    if not isinstance(target, jax.Array):
        return value
    if isinstance(value, jax.Array):
        placed = value
    elif target.committed:
        placed = jax.device_put(value, target.sharding)
    else:
        # Weakly typed like the array that it replaces, it leaves the dtype to other operands.
        weak = value.ndim == 0 and getattr(target, "weak_type", False)
        placed = jnp.asarray(value.item() if weak else value)
    return jax.random.wrap_key_data(placed, impl=entry.prng) if entry.prng else placed
