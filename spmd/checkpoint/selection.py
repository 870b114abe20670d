"""Agreement among processes on a checkpoint: process 0 decides. And the newest intact one of several."""

import json
import logging
import os
import shlex
import warnings
from collections.abc import Callable, Iterable, Sequence

import jax

from spmd.checkpoint.errors import (
    SHOWN,
    CheckpointError,
    CheckpointNotFoundError,
    DamagedCheckpointError,
)
from spmd.checkpoint.intact import verify
from spmd.checkpoint.layout import checkpoint_folder, is_checkpoint
from spmd.cluster import all_gather_small
from spmd.files import absolute, is_url

# What moves a folder of a store, by the kind of URL.
_MOVES = {"gs": "gcloud storage mv", "s3": "aws s3 mv --recursive"}

_LOG = logging.getLogger("spmd.checkpoint")
_has_warned = False


class DamagedCheckpointWarning(UserWarning):
    """A checkpoint is damaged, so an older one is used; or the file that names the latest is."""


def newest_intact(paths: Iterable[str]) -> str | None:
    """Finds the newest intact checkpoint; warns of each damaged one that it skips.

    Any process may call it; it does not wait for others.

    Args:
        paths: of checkpoints, the newest first.

    Returns:
        The path; None if there is none.

    Raises:
        DamagedCheckpointError: there are some, and all are damaged.
    """
    damaged: list[str] = []
    for path in paths:
        try:
            verify(path)
        except (DamagedCheckpointError, CheckpointNotFoundError) as error:
            message = f"{error} The one before it is used, if there is one."
            warnings.warn(message, DamagedCheckpointWarning, stacklevel=2)
            if _is_there(path):  # else it was deleted meanwhile
                damaged.append(path)
        else:
            return path
    if damaged:
        folder = absolute(os.path.dirname(damaged[0]))
        tool = _MOVES.get(folder.partition("://")[0], "mv")
        move = [*tool.split(), folder, f"{folder}.damaged"]
        names = ", ".join(os.path.basename(path) for path in damaged[:SHOWN])
        raise DamagedCheckpointError(
            f"No checkpoint in {folder} is intact: {names}{', ...' * (len(damaged) > SHOWN)} "
            f"{'are' if len(damaged) > 1 else 'is'} damaged, as the warnings before this say. A new start would overwrite them.\n"
            f"Fix: put copies from a backup there; or move the folder away to start anew on purpose: {shlex.join(move)}"
        )
    return None


def _is_there(path: str) -> bool:
    return is_checkpoint(path) if is_url(path) else os.path.isdir(checkpoint_folder(path))


def agree_on_checkpoint(choose: Callable[[], str | None], timeout: float) -> str | None:
    """Lets process 0 choose a checkpoint for all; all processes must call it, and it blocks.

    Each on its own might find another one, on local disks or in a folder that is cached.

    Args:
        choose: returns the path, or None; called by process 0 only.
        timeout: seconds that a process waits for the others.

    Returns:
        The path, the same in all processes.

    Raises:
        CheckpointError: process 0 could not choose.
        ClusterWaitError: a process does not take part; the message names it.
    """
    path, failure = None, None
    if jax.process_index() == 0:
        try:
            path = choose()
        except (OSError, ValueError) as error:
            failure = error
    is_damaged = isinstance(failure, DamagedCheckpointError)
    error = "" if failure is None else str(failure)
    message = json.dumps({"path": path, "error": error, "is_damaged": is_damaged})
    choice = json.loads(all_gather_small("checkpoint/choice", message, timeout)[0])
    if failure is not None:
        raise failure
    if choice["error"]:
        kind = DamagedCheckpointError if choice.get("is_damaged") else CheckpointError
        raise kind(f"Process 0 could not choose a checkpoint: {choice['error']}")
    return choice["path"]


def path_of_first(paths: Sequence[str]) -> str:
    """Returns the path that process 0 names, which warns once if others name other paths.

    TensorFlow's scripts give the other processes folders of their own, which they delete afterwards.

    Args:
        paths: what each process names, in order; empty for none.

    Examples:
        >>> path_of_first(["run/ckpt-1", "run/ckpt-1"])
        'run/ckpt-1'
    """
    global _has_warned
    first = paths[0]
    for process, path in enumerate(paths):
        if path != first and jax.process_index() == 0 and not _has_warned:
            _has_warned = True
            _LOG.warning(
                "Process %d names %s, and process 0 %s. A checkpoint belongs to all processes, so the path of "
                "process 0 is used, here and from now on. To avoid this warning, name the same path in all "
                "processes, without the rank.",
                *(process, path or "no checkpoint", first or "no checkpoint"),
            )
    return first
