"""`tf.train.checkpoints_iterator`: waits for checkpoints that another process writes."""

import time
from collections.abc import Callable, Iterator

from frontends.tf.train.checkpoint_state import latest_checkpoint
from spmd.typing import StrPath

_POLL_SECONDS = 0.5


def checkpoints_iterator(
    checkpoint_dir: StrPath,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Yields the latest checkpoint of a folder, each time that there is a new one; blocks in between.

    A checkpoint that is replaced before it was asked for is left out.

    Args:
        checkpoint_dir: the folder, which need not exist yet.
        min_interval_secs: how long to wait between two of them at least.
        timeout: how long to wait for a new one at most; None for any time.
        timeout_fn: called when that time is over, tells whether to stop; None stops.

    Yields:
        Paths, as `tf.train.latest_checkpoint` returns them.

    Source: `tf.train.checkpoints_iterator`.
    """
    path = None
    while True:
        new = _wait(checkpoint_dir, path, timeout)
        if new is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        path, start = new, time.monotonic()
        yield path
        time.sleep(max(0.0, start + min_interval_secs - time.monotonic()))


def _wait(folder: StrPath, known: str | None, timeout: float | None) -> str | None:
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        path = latest_checkpoint(folder)
        if path is not None and path != known:
            return path
        if end is not None and time.monotonic() + _POLL_SECONDS > end:
            return None
        time.sleep(_POLL_SECONDS)
