"""Which checkpoint all processes mean: the one of the first of them; and of several the newest one that is whole."""

import json
import logging
import os
import re
import warnings
from collections.abc import Callable, Iterable, Sequence

import jax

from spmd.checkpoint.errors import (
    CheckpointError,
    CheckpointNotFoundError,
    DamagedCheckpointError,
)
from spmd.checkpoint.manifest import REPLACED, is_checkpoint, verify
from spmd.cluster import all_gather_small

_LOG = logging.getLogger("spmd.checkpoint")
_has_told = False


class DamagedCheckpointWarning(UserWarning):
    """A checkpoint is damaged, so an older one is used."""


def newest_intact(paths: Iterable[str]) -> str | None:
    """Finds the newest checkpoint that is whole; warns of each damaged one that it passes over.

    Any process may call it; it does not wait for others.

    Args:
        paths: of checkpoints, the newest first.

    Returns:
        The path; None if none is whole.
    """
    for path in paths:
        try:
            verify(path)
        except (DamagedCheckpointError, CheckpointNotFoundError) as error:
            warnings.warn(
                f"{error} The one before it is used, if there is one.",
                DamagedCheckpointWarning,
                stacklevel=2,
            )
        else:
            return path
    return None


def chosen_by_first(choose: Callable[[], str | None], timeout: float) -> str | None:
    """Lets the first process choose a checkpoint for all; all processes must call it, and it blocks.

    Each for itself might find another one, on disks that differ or in a folder that is cached.

    Args:
        choose: finds the path, or None; only the first process calls it.
        timeout: seconds that a process waits for the others.

    Returns:
        The path, the same in all processes.

    Raises:
        CheckpointError: the first process could not choose.
        ClusterWaitError: a process does not take part; the message names it.
    """
    path, failure = None, None
    if jax.process_index() == 0:
        try:
            path = choose()
        except (OSError, ValueError) as error:
            failure = error
    choice = {"path": path, "error": "" if failure is None else str(failure)}
    told = json.loads(all_gather_small("checkpoint/choice", json.dumps(choice), timeout)[0])
    if failure is not None:
        raise failure
    if told["error"]:
        raise CheckpointError(f"Process 0 could not choose a checkpoint: {told['error']}")
    return told["path"]


def path_of_first(paths: Sequence[str]) -> str:
    """Returns the path that counts of those that the processes name: the first process's, which tells of others once.

    TensorFlow's scripts give the other processes folders of their own, which they delete afterwards.

    Args:
        paths: what each process names, in order; empty for nothing.

    Examples:
        >>> path_of_first(["run/ckpt-1", "run/ckpt-1"])
        'run/ckpt-1'
    """
    global _has_told
    first = paths[0]
    for process, path in enumerate(paths):
        if path != first and jax.process_index() == 0 and not _has_told:
            _has_told = True
            _LOG.warning(
                "Process %d names %s, and process 0 %s. A checkpoint belongs to all processes, and the path of "
                "process 0 counts, here and from now on. Name the same in all, without the rank, and this is not said.",
                *(process, path or "no checkpoint", first or "no checkpoint"),
            )
    return first


def numbered(directory: str, name: str) -> dict[int, str]:
    """Lists the checkpoints `<name>-<number>` of a folder.

    Args:
        directory: the folder.
        name: what their names begin with.

    Returns:
        Their paths by number, lowest first. Each was written to its end.
    """
    if not os.path.isdir(directory):
        return {}
    pattern = re.compile(re.escape(name) + r"-(\d+)")
    entries = {entry.removesuffix(REPLACED) for entry in os.listdir(directory)}
    found = [(pattern.fullmatch(entry), os.path.join(directory, entry)) for entry in entries]
    checkpoints = {int(hit[1]): path for hit, path in found if hit and is_checkpoint(path)}
    return dict(sorted(checkpoints.items()))
