"""What can be wrong with a checkpoint."""

from spmd.errors import SpmdError


class CheckpointError(SpmdError, ValueError):
    """A checkpoint that cannot be written, or does not fit what it is restored into."""


class DamagedCheckpointError(CheckpointError):
    """A checkpoint whose files are not those that were written."""


class CheckpointNotFoundError(CheckpointError, FileNotFoundError):
    """A path that holds no checkpoint."""

    # OSError would show its arguments as an error number and a text.
    def __str__(self) -> str:
        return str(self.args[0])
