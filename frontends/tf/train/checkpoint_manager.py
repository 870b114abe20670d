"""`tf.train.CheckpointManager`: keeps the last few checkpoints of a run."""

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.train.checkpoint import Checkpoint
from frontends.tf.train.checkpoint_options import CheckpointOptions
from frontends.tf.train.checkpoint_state import (
    find_checkpoint_state,
    is_present,
    latest_checkpoint,
    update_checkpoint_state,
)
from spmd.checkpoint import agree_on_checkpoint, check_path, remove_checkpoint, remove_leftovers
from spmd.typing import StrPath

_HOUR = 3600.0


class CheckpointManager:
    """Saves a `tf.train.Checkpoint` in a folder, and deletes older ones.

    Its state is in the folder's file `checkpoint`, from which a later manager continues. What differs here: if the
    latest checkpoint is damaged, a warning says so, and the one before it is the latest.

    Examples:
        >>> import tempfile
        >>> from frontends import tf
        >>> checkpoint = tf.train.Checkpoint(step=tf.Variable(0))
        >>> manager = tf.train.CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=2)
        >>> for _ in range(3):
        ...     _ = manager.save()
        >>> [path[-7:] for path in manager.checkpoints]
        ['/ckpt-2', '/ckpt-3']

    Source: `tf.train.CheckpointManager`.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: StrPath,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: TensorLike = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        """Opens a folder of checkpoints.

        Args:
            checkpoint: what is saved and restored.
            directory: the folder; that of process 0 is used.
            max_to_keep: how many checkpoints are kept; None keeps all.
            keep_checkpoint_every_n_hours: a checkpoint that would be deleted is preserved if it is that many hours
                younger than the last one that was preserved.
            checkpoint_name: prefix of the checkpoints' names.
            step_counter: variable with the number of the step, for `checkpoint_interval`.
            checkpoint_interval: `save` saves only if that many steps have passed.
            init_fn: called by `restore_or_initialize` if there is no checkpoint.
            last_checkpoint_step: step of the last checkpoint, for `checkpoint_interval`.

        Raises:
            ValueError: `max_to_keep` is below 1, or there is an interval without a counter.
        """
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "`step_counter` should be passed if `checkpoint_interval` is not None."
            )
        self._checkpoint = checkpoint
        self._directory = check_path(directory)
        self._max_to_keep = max_to_keep
        self._keep_hours = keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._init_fn = init_fn
        self._last_step = last_checkpoint_step
        self._is_clean = False
        self._recover()

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """What is saved and restored."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        """The minimum number of steps between two checkpoints."""
        return self._interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint, for `checkpoint.restore`; None if there is none.

        One of an earlier manager is read and verified at the first access, by each process that asks.
        """
        if self._must_find:
            self._latest = latest_checkpoint(self._directory)
            self._must_find, self._is_checked = False, True
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the checkpoints that may still be deleted, oldest first."""
        return list(self._times)

    def save(
        self,
        checkpoint_number: TensorLike = None,
        check_interval: bool = True,
        options: CheckpointOptions | None = None,
    ) -> str | None:
        """Saves if it is due, and deletes old checkpoints; all processes must call it.

        Blocks as `Checkpoint.save` does.

        Args:
            checkpoint_number: number of the checkpoint; None takes the checkpoint's `save_counter`.
            check_interval: False saves even before `checkpoint_interval` has passed, but never twice at one step.
            options: how to write.

        Returns:
            The path, that of process 0 in all processes; None if nothing was saved.

        Raises:
            ValueError: an object cannot be saved.
            OSError: a file cannot be written; the next call tries again.
            TimeoutError: a process does not save; the message names it.

        Source: `tf.train.CheckpointManager.save`.
        """
        step, last = None, self._last_step
        if self._interval is not None:
            step = _number(self._step_counter)
            least = step if last is None else last + (self._interval if check_interval else 1)
            if step == last or step < least:
                return None
        counter = self._checkpoint.save_counter
        counter.assign_add(1)
        number = counter if checkpoint_number is None else checkpoint_number
        path = f"{self._prefix}-{_number(number)}"
        self._checkpoint.sync()
        if not self._is_clean:
            remove_leftovers(self._directory)
            self._is_clean = True
        times = {old: when for old, when in self._times.items() if old != path}
        times[path] = time.time()
        kept, deleted, preserved = self._sweep(times)

        def done() -> None:
            # Twice, so that after a kill in between the new one is found, and none that is deleted.
            _record(path, times, self._preserved)
            for old in deleted:
                remove_checkpoint(old)
            _record(path, kept, preserved)

        saved = self._checkpoint.write_and(path, options, done)
        if saved != path:
            kept[saved] = kept.pop(path)
            update_checkpoint_state(saved, list(kept), folder=self._directory)
        self._latest, self._times, self._preserved = saved, kept, preserved
        self._last_step = last if step is None else step
        self._must_find = self._is_checked = False
        return saved

    def restore_or_initialize(self) -> str | None:
        """Restores the latest checkpoint, or calls `init_fn` if there is none; all processes must call it.

        Process 0 decides which is the latest, and is the only one to verify its files, once.

        Returns:
            The path of what was restored, or None.

        Raises:
            ValueError: the checkpoint does not match the objects, or not all processes find it.
            TimeoutError: a process does not restore; the message names it.

        Source: `tf.train.CheckpointManager.restore_or_initialize`.
        """
        found = agree_on_checkpoint(lambda: self.latest_checkpoint, self._checkpoint.timeout)
        checked = self._is_checked
        self._latest, self._must_find, self._is_checked = found, False, False
        if found is not None:
            self._checkpoint.restore_found(found, checked=checked)
            if self._interval is not None:
                self._last_step = _number(self._step_counter)
        elif self._init_fn is not None:
            self._init_fn()
        return found

    def sync(self) -> None:
        """Waits until the checkpoint is on disk.

        Raises:
            BaseException: what went wrong while it was written.
        """
        self._checkpoint.sync()

    def _recover(self) -> None:
        """Continues from the state of an earlier manager of the folder."""
        now = time.time()
        state = find_checkpoint_state(self._directory, name=os.path.basename(self._prefix))
        self._times: dict[str, float] = {}
        self._latest: str | None = None
        self._must_find, self._is_checked = state is not None, False
        # As in TensorFlow: a second earlier than any checkpoint of this manager.
        self._preserved = now - 1.0
        if state is None:
            return
        self._preserved = min(state.last_preserved_timestamp, now)
        paths = state.all_model_checkpoint_paths
        times = state.all_model_checkpoint_timestamps or (self._preserved,) * len(paths)
        for path, when in zip(paths, times, strict=True):
            if min(when, now) > self._preserved and is_present(path):
                self._times[path] = min(when, now)

    def _sweep(self, times: dict[str, float]) -> tuple[dict[str, float], list[str], float]:
        """Decides which are kept, which are deleted, and when the last preserved one was saved."""
        kept, deleted, preserved = dict(times), list[str](), self._preserved
        while self._max_to_keep is not None and len(kept) > self._max_to_keep:
            oldest = next(iter(kept))
            when = kept.pop(oldest)
            if self._keep_hours and when - self._keep_hours * _HOUR >= preserved:
                preserved = when
            else:
                deleted.append(oldest)
        return kept, deleted, preserved


def _record(latest: str, times: dict[str, float], preserved: float) -> None:
    update_checkpoint_state(latest, list(times), list(times.values()), preserved)


def _number(value: TensorLike) -> int:
    return int(np.asarray(value.numpy() if hasattr(value, "numpy") else value))
