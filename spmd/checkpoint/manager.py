"""`spmd.checkpoint.CheckpointManager`: the checkpoints of a run, of which some are kept."""

import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from spmd.checkpoint.checkpoint import Checkpoint
from spmd.checkpoint.errors import CheckpointError
from spmd.checkpoint.manifest import read_manifest, remove
from spmd.checkpoint.saving import clear
from spmd.checkpoint.selection import chosen_by_first, newest_intact, numbered
from spmd.cluster import all_gather_small

_NAME = "step"


@dataclass(frozen=True)
class KeepPolicy:
    """Which checkpoints are kept when a new one is there.

    Attributes:
        last: how many of the latest; None keeps all.
        best: how many of the best, beside them.
        metric: what says which are the best, by its name in `save(metrics=...)`.
        mode: whether a low or a high value is good.

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
                f"last is {self.last}, but 1 checkpoint has to be kept at least. Use last=1, or None for all."
            )
        if self.best < 0 or (self.best and self.metric is None):
            raise ValueError(
                f"best is {self.best} and metric is {self.metric!r}. The best are found by a metric: "
                "KeepPolicy(best=1, metric='loss')."
            )
        if self.mode not in ("min", "max"):
            raise ValueError(f"mode is {self.mode!r}. Use 'min' or 'max'.")


@dataclass(frozen=True)
class SavePolicy:
    """When `save` does save; without any condition, always.

    Attributes:
        every_steps: the first step is saved, and then each that is so many after the last saved one.
        every_seconds: so many seconds after the last one was saved. In a cluster the first process's clock
            counts, and each call asks for it: steps are cheaper.

    Examples:
        >>> SavePolicy(every_steps=1000).every_seconds is None
        True
    """

    every_steps: int | None = None
    every_seconds: float | None = None

    def __post_init__(self) -> None:
        for name, value in (
            ("every_steps", self.every_steps),
            ("every_seconds", self.every_seconds),
        ):
            if value is not None and value <= 0:
                raise ValueError(f"{name} is {value}. Use a number above 0, or None.")


class CheckpointManager:
    """Saves a `Checkpoint` under step numbers, keeps some, and finds the one to go on from.

    Only one should save into a folder at a time. A checkpoint with a higher number than the one that is saved neither
    counts among those that are kept nor is deleted.

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
        directory: Any,
        *,
        keep: KeepPolicy | None = None,
        when: SavePolicy | None = None,
    ) -> None:
        """Takes a folder.

        Args:
            checkpoint: what is saved and restored.
            directory: where; it is made when something is saved. If processes name several, that of the first one
                counts.
            keep: which checkpoints stay; None keeps all.
            when: which calls of `save` save; None means all.
        """
        self._checkpoint = checkpoint
        self._directory = os.path.abspath(os.fspath(directory))
        self._keep = keep or KeepPolicy()
        self._when = when or SavePolicy()
        self._clean = False
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
        return numbered(self._directory, _NAME)

    def save(
        self, step: int, *, metrics: Mapping[str, float] | None = None, force: bool = False
    ) -> str | None:
        """Saves if it is time to; all processes must call it. Blocks as `Checkpoint.save` does.

        Args:
            step: number of the checkpoint.
            metrics: of this step, for `KeepPolicy.best`.
            force: whether to save in any case.

        Returns:
            The path of the checkpoint, which `wait` waits for; None if it was not time.

        Raises:
            CheckpointError: the metric that decides which are the best is missing, or see `Checkpoint.save`.
            ClusterWaitError: a process does not save; the message names it.
        """
        step, metrics = int(step), dict(metrics or {})
        if not force and not self._is_time(step):
            return None
        if self._keep.best and self._keep.metric not in metrics:
            raise CheckpointError(
                f"The best checkpoints are found by {self._keep.metric!r}, but the metrics of step {step} are "
                f"{sorted(metrics)}. Pass it: save(step, metrics={{{self._keep.metric!r}: value}})."
            )
        self._checkpoint.wait()
        if not self._clean:
            clear(self._directory)
            self._clean = True
        notes = {"step": step, "metrics": {name: float(value) for name, value in metrics.items()}}
        path = os.path.join(self._directory, f"{_NAME}-{step}")
        path = self._checkpoint.save(path, notes=notes, done=lambda: self._sweep(step))
        self._directory = os.path.dirname(path)
        self._last_step, self._last_time = step, time.monotonic()
        return path

    def wait(self) -> None:
        """Waits until what was saved is on disk and checked.

        Raises:
            BaseException: what went wrong while it was written.
        """
        self._checkpoint.wait()

    def restore_latest(self) -> int | None:
        """Restores the newest checkpoint that is whole; all processes must call it.

        The first process chooses for all. It warns of a damaged one, and uses the one before it.

        Returns:
            Its step; None if there is none.

        Raises:
            CheckpointError: it does not fit the objects, or not all processes have it.
            ClusterWaitError: a process does not restore; the message names it.
        """
        self.wait()
        found = self.checkpoints
        path = chosen_by_first(
            lambda: newest_intact(list(found.values())[::-1]), self._checkpoint.timeout
        )
        step = None if path is None else int(path.rpartition("-")[2])
        self._damaged = {other for other in found if step is None or other > step}
        if path is not None:
            self._checkpoint.restore(path, checked=True)
            self._directory, self._last_step = os.path.dirname(path), step
        return step

    def _is_time(self, step: int) -> bool:
        steps, seconds = self._when.every_steps, self._when.every_seconds
        if steps is not None and self._last_step is not None and step < self._last_step + steps:
            return False
        if seconds is None:
            return True
        late = self._last_time is None or time.monotonic() >= self._last_time + seconds
        told = all_gather_small("checkpoint/time", str(late), self._checkpoint.timeout)
        return told[0] == "True"

    def _sweep(self, saved: int) -> None:
        """Deletes what is not kept. The first process calls it, when a checkpoint is there."""
        self._damaged.discard(saved)
        # Whatever has a higher number was left by a run that this one does not go on with.
        found = {step: path for step, path in self.checkpoints.items() if step <= saved}
        if self._keep.last is None:
            return
        whole = [step for step in found if step not in self._damaged]
        kept = set(whole[-self._keep.last :])
        if self._keep.best:
            kept.update(
                sorted(whole, key=lambda step: self._badness(found[step]))[: self._keep.best]
            )
        for step in set(found) - kept:
            remove(found[step])

    def _badness(self, path: str) -> float:
        value = read_manifest(path).notes.get("metrics", {}).get(self._keep.metric, math.nan)
        # What is no number is worse than any.
        return math.inf if math.isnan(value) else value if self._keep.mode == "min" else -value
