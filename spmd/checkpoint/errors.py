"""What can be wrong with a checkpoint."""

from collections.abc import Sequence

from spmd.errors import SpmdError

SHOWN = 10  # how many of a list a message names


def first_lines(lines: Sequence[str]) -> str:
    """Joins the first lines of a list, and says how many more there are."""
    more = [f"  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return "\n".join([*lines[:SHOWN], *more])


class CheckpointError(SpmdError, ValueError):
    """A checkpoint that cannot be written, or does not fit what it is restored into."""


class DamagedCheckpointError(CheckpointError):
    """A checkpoint whose files are not those that were written."""


class CheckpointNotFoundError(CheckpointError, FileNotFoundError):
    """A path that holds no checkpoint."""

    # OSError would show its arguments as an error number and a text.
    def __str__(self) -> str:
        return str(self.args[0])
