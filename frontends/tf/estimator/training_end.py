"""Whether a training has ended, for tasks that follow it or serve it: by its checkpoints, and by the mark of its end."""

import time

from frontends.tf.estimator import model_checkpoints
from frontends.tf.estimator.end_mark import EndMark
from spmd.typing import StrPath


class TrainingEnd:
    """The end of the training that runs in an estimator's folder, or is about to."""

    def __init__(self, folder: StrPath, max_steps: int | None, former_seconds: float) -> None:
        """Watches a folder from now on.

        Args:
            folder: of the estimator.
            max_steps: at which global step training ends at the latest.
            former_seconds: how long a mark that is there already does not count. It may be of an earlier training in the same
                folder, until the chief has had time to remove it.
        """
        self._folder, self._max_steps = folder, max_steps
        self._mark = EndMark(folder, max_steps)
        self._former, self._start = self._mark.read(), time.monotonic()
        self._former_seconds = former_seconds

    def has_come(self) -> bool:
        """Tells whether the last checkpoint is there."""
        if model_checkpoints.reaches(self._folder, self._max_steps):
            return True
        found, passed = self._mark.read(), time.monotonic() - self._start
        return found is not None and (found != self._former or passed > self._former_seconds)
