"""Failing together: what goes wrong in one process is raised in all, so that none waits for it in vain."""

import json

from spmd.checkpoint.errors import CheckpointError, DamagedCheckpointError
from spmd.cluster import all_gather_small


def fail_together(key: str, failure: Exception | None, timeout: float, *, is_damage: bool) -> None:
    """Raises an error in every process if one has failed; all processes must call it, and it blocks.

    Args:
        key: what this is about.
        failure: what went wrong in this process, if something did.
        timeout: seconds that a process waits for the others.
        is_damage: whether a failure of this process means for the others that the checkpoint is damaged.

    Raises:
        Exception: `failure`.
        DamagedCheckpointError: another process has failed, and that means damage.
        CheckpointError: another process has failed otherwise.
        ClusterWaitError: a process does not call this; the message names it.

    Examples:
        >>> fail_together("checkpoint/files", None, 1.0, is_damage=True)
    """
    text = "" if failure is None else str(failure) or type(failure).__name__
    told = all_gather_small(key, json.dumps([text, is_damage]), timeout)
    if failure is not None:
        raise failure
    for process, (text, is_damage) in enumerate(map(json.loads, told)):
        if text:
            kind = DamagedCheckpointError if is_damage else CheckpointError
            raise kind(f"Process {process} says: {text}")
