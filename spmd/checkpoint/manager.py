"""`CheckpointManager`: the checkpoints of a run, when to save them and which to keep."""

import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from spmd.checkpoint.checkpoint import Checkpoint
from spmd.checkpoint.errors import CheckpointError
from spmd.checkpoint.layout import check_path, numbered_checkpoints, remove_checkpoint
from spmd.checkpoint.manifest import read_manifest
from spmd.checkpoint.saving import remove_leftovers
from spmd.checkpoint.selection import agree_on_checkpoint, newest_intact
from spmd.cluster import all_gather_small
from spmd.files import absolute
from spmd.typing import StrPath

_NAME = "step"


@dataclass(frozen=True)
class KeepPolicy:
    """Which checkpoints are kept when a new one is complete.

    Attributes:
        last: how many of the latest; None keeps all.
        best: how many of the best, besides.
        metric: name in `save(metrics=...)` of the metric that decides which are the best.
        mode: whether lower or higher values are better.

    Examples:
        >>> KeepPolicy(last=2, best=1, metric="loss").mode
        'min'
    """

    last: int | None = None
    best: int = 0
    metric: str | None = None
    mode: Literal["min", "max"] = "min"

    def __post_init__(self) -> None:
        if self.last is not None and self.last < 1:
            raise ValueError(
                f"last is {self.last}, but at least 1 checkpoint has to be kept. Use last=1, or None for all."
            )
        if self.best < 0 or (self.best and self.metric is None):
            raise ValueError(
                f"best is {self.best} and metric is {self.metric!r}. The best are chosen by a metric: "
                "KeepPolicy(best=1, metric='loss')."
            )
        if self.mode not in ("min", "max"):
            raise ValueError(f"mode is {self.mode!r}. Use 'min' or 'max'.")


@dataclass(frozen=True)
class SavePolicy:
    """When `save` saves; without any condition, always.

    Attributes:
        every_steps: steps between two saves, at least; the first step is saved.
        every_seconds: seconds between two saves, at least. In a cluster the clock of process 0 decides, and
            each call waits for it: steps are cheaper.

    Examples:
        >>> SavePolicy(every_steps=1000).every_seconds is None
        True
    """

    every_steps: int | None = None
    every_seconds: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and value <= 0:
                raise ValueError(f"{name} is {value}. Use a number above 0, or None.")


class CheckpointManager:
    """Saves a `Checkpoint` under step numbers, keeps some, and finds the one to resume from.

    Only one manager should save into a folder at a time. Checkpoints with a higher number than the one that is saved
    are neither counted nor deleted.

    Examples:
        >>> import tempfile
        >>> from spmd.checkpoint import Checkpoint, CheckpointManager, KeepPolicy
        >>> checkpoint = Checkpoint(epoch=0)
        >>> folder = tempfile.mkdtemp()
        >>> with CheckpointManager(checkpoint, folder, keep=KeepPolicy(last=2)) as manager:
        ...     for checkpoint.epoch in (1, 2, 3):
        ...         _ = manager.save(checkpoint.epoch)
        >>> list(manager.checkpoints)
        [2, 3]
        >>> checkpoint.epoch = 0
        >>> manager.restore_latest(), checkpoint.epoch
        (3, 3)

    Source: `tf.train.CheckpointManager`, `orbax.checkpoint.CheckpointManager`.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: StrPath,
        *,
        keep: KeepPolicy | None = None,
        when: SavePolicy | None = None,
    ) -> None:
        """Opens a folder of checkpoints.

        Args:
            checkpoint: what is saved and restored.
            directory: the folder, or its URL in an object store; the first save makes it. If processes name several, that of process 0 is used.
            keep: which checkpoints are kept; None keeps all.
            when: which calls of `save` save; None means all.
        """
        self._checkpoint = checkpoint
        self._directory = absolute(check_path(directory))
        self._keep = keep or KeepPolicy()
        self._when = when or SavePolicy()
        self._is_clean = False
        self._damaged: set[int] = set()
        self._last_step: int | None = None
        self._last_time: float | None = None

    def __enter__(self) -> "CheckpointManager":
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()

    @property
    def checkpoints(self) -> Mapping[int, str]:
        """The paths of all complete checkpoints, by step, the oldest first."""
        return numbered_checkpoints(self._directory, _NAME)

    def save(
        self, step: int, *, metrics: Mapping[str, float] | None = None, force: bool = False
    ) -> str | None:
        """Saves if it is due; all processes must call it. Blocks as `Checkpoint.save` does.

        Args:
            step: number of the checkpoint.
            metrics: of this step, for `KeepPolicy.best`.
            force: whether to save even if it is not due.

        Returns:
            The path of the checkpoint, which `wait` waits for; None if it was not due.

        Raises:
            CheckpointError: the metric of `KeepPolicy.best` is missing; or as for `Checkpoint.save`.
            ClusterWaitError: a process does not save; the message names it.
        """
        step, metrics = int(step), dict(metrics or {})
        if not force and not self._is_due(step):
            return None
        if self._keep.best and self._keep.metric not in metrics:
            raise CheckpointError(
                f"The best checkpoints are chosen by {self._keep.metric!r}, but the metrics of step {step} are "
                f"{sorted(metrics)}. Pass it: save(step, metrics={{{self._keep.metric!r}: value}})."
            )
        self._checkpoint.wait()
        if not self._is_clean:
            remove_leftovers(self._directory)
            self._is_clean = True
        notes = {"step": step, "metrics": {name: float(value) for name, value in metrics.items()}}
        path = os.path.join(self._directory, f"{_NAME}-{step}")
        path = self._checkpoint.save(path, notes=notes, done=lambda: self._sweep(step))
        self._directory = os.path.dirname(path)
        self._last_step, self._last_time = step, time.monotonic()
        return path

    def wait(self) -> None:
        """Waits until the checkpoint is on disk.

        Raises:
            BaseException: what went wrong while it was written.
        """
        self._checkpoint.wait()

    def restore_latest(self) -> int | None:
        """Restores the newest intact checkpoint; all processes must call it, and it blocks.

        Process 0 chooses for all. It warns of a damaged one, and uses the one before it.

        Returns:
            Its step; None if there is none.

        Raises:
            DamagedCheckpointError: there are some, and all are damaged.
            CheckpointError: it does not fit the objects, or not all processes have it.
            ClusterWaitError: a process does not restore; the message names it.
        """
        self.wait()
        found = self.checkpoints
        path = agree_on_checkpoint(
            lambda: newest_intact(list(found.values())[::-1]), self._checkpoint.timeout
        )
        step = None if path is None else int(path.rpartition("-")[2])
        self._damaged = {other for other in found if step is None or other > step}
        if path is not None:
            self._checkpoint.restore(path, checked=True)
            self._directory, self._last_step = os.path.dirname(path), step
        return step

    def _is_due(self, step: int) -> bool:
        steps, seconds = self._when.every_steps, self._when.every_seconds
        if steps is not None and self._last_step is not None and step < self._last_step + steps:
            return False
        if seconds is None:
            return True
        late = self._last_time is None or time.monotonic() >= self._last_time + seconds
        answers = all_gather_small("checkpoint/time", str(late), self._checkpoint.timeout)
        return answers[0] == "True"

    def _sweep(self, saved: int) -> None:
        """Deletes what is not kept. Process 0 calls it, when a checkpoint is complete."""
        self._damaged.discard(saved)
        # Higher numbers are left over from a run that this one does not continue.
        found = {step: path for step, path in self.checkpoints.items() if step <= saved}
        if self._keep.last is None:
            return
        intact = [step for step in found if step not in self._damaged]
        kept = set(intact[-self._keep.last :])
        if self._keep.best:
            ranked = sorted(intact, key=lambda step: self._badness(found[step]))
            kept.update(ranked[: self._keep.best])
        for step in set(found) - kept:
            remove_checkpoint(found[step])

    def _badness(self, path: str) -> float:
        value = read_manifest(path).notes.get("metrics", {}).get(self._keep.metric, math.nan)
        # NaN is worse than any number.
        return math.inf if math.isnan(value) else value if self._keep.mode == "min" else -value
