"""Which checkpoint of several to go on from: the newest one that is whole."""

import os
import re
import warnings
from collections.abc import Iterable

from spmd.checkpoint.errors import CheckpointNotFoundError, DamagedCheckpointError
from spmd.checkpoint.manifest import is_checkpoint, verify


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
    found = [
        (pattern.fullmatch(entry), os.path.join(directory, entry))
        for entry in os.listdir(directory)
    ]
    checkpoints = {int(hit[1]): path for hit, path in found if hit and is_checkpoint(path)}
    return dict(sorted(checkpoints.items()))
