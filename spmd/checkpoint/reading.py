"""Reading the arrays of a checkpoint by name, without the objects that were saved."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from spmd.checkpoint.agreement import fail_together
from spmd.checkpoint.arrays import ArrayEntry, read
from spmd.checkpoint.errors import (
    CheckpointError,
    DamagedCheckpointError,
    in_a_sentence,
    is_about_files,
)
from spmd.checkpoint.intact import Copy, is_read_from_copy, verified_copy
from spmd.checkpoint.layout import checkpoint_folder
from spmd.checkpoint.manifest import read_manifest
from spmd.checkpoint.parts import ARRAYS
from spmd.checkpoint.saving import wait_for_saves
from spmd.cluster import wait_seconds
from spmd.typing import AnyArray


def list_arrays(path: str) -> list[ArrayEntry]:
    """Lists the arrays of a checkpoint, and reads none of them.

    Args:
        path: what `save` returned.

    Raises:
        CheckpointNotFoundError: there is no checkpoint.
        DamagedCheckpointError: its manifest is missing or damaged.

    Examples:
        >>> import tempfile
        >>> from spmd.checkpoint import Checkpoint, list_arrays, read_array
        >>> checkpoint = Checkpoint(w=np.ones(3, np.float32))
        >>> path = checkpoint.save(tempfile.mkdtemp() + "/ckpt")
        >>> checkpoint.wait()
        >>> [entry] = list_arrays(path)
        >>> entry.name, str(entry), read_array(path, entry)
        ('w', 'float32[3]', array([1., 1., 1.], dtype=float32))
    """
    return [entry for node in read_manifest(path).nodes for entry in node.entries]


def read_array(path: str, entry: ArrayEntry) -> np.ndarray[Any, Any]:
    """Reads one array of a checkpoint; all processes must call it, and it blocks.

    Args:
        path: what `save` returned.
        entry: of the array, from `list_arrays`.

    Returns:
        The array, in host memory; random keys as numbers.
    """
    as_numbers = ArrayEntry(entry.name, entry.shape, entry.dtype)
    host_array = np.zeros(0)  # what it replaces is of NumPy, so the array is
    found = read_arrays(path, {entry.name: (as_numbers, host_array)}, wait_seconds())
    return np.asarray(found[entry.name])


def read_arrays(
    path: str,
    targets: Mapping[str, tuple[ArrayEntry, AnyArray]],
    timeout: float,
    copy: Copy | None = None,
) -> dict[str, AnyArray]:
    """Reads arrays of the checkpoint at a path, as `arrays.read` does, after the saves that this process has begun.

    All processes must call it: none goes on before all have read, and all raise an error if one does.

    Args:
        path: the checkpoint's.
        targets: see `arrays.read`.
        timeout: seconds that a process waits for the others.
        copy: of the checkpoint; None makes one, if its files cannot be read where they are.

    Raises:
        CheckpointError: an array cannot be read.
        ClusterWaitError: a process does not read; the message names it.
    """
    wait_for_saves()  # reading would otherwise wait for the writer, or disturb it
    failure: Exception | None = None
    found: dict[str, AnyArray] = {}
    try:
        if copy is None and is_read_from_copy(path):
            copy = verified_copy(path)
        folder = os.path.abspath(checkpoint_folder(path)) if copy is None else copy.folder
        found = read(os.path.join(folder, ARRAYS), targets)
    except CheckpointError as error:
        failure = error
    except Exception as error:  # of Orbax and TensorStore; the others must be told in any case
        text = f"The arrays of the checkpoint {path} cannot be read: {in_a_sentence(error)}"
        failure = CheckpointError(text) if is_about_files(error) else error
    is_damage = isinstance(failure, DamagedCheckpointError)
    fail_together("checkpoint/read", failure, timeout, is_damage=is_damage)
    return found
