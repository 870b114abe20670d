"""`tf.train.CheckpointManager`: the checkpoints of a run, of which the last few are kept."""

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from frontends.tf.train.checkpoint import Checkpoint
from frontends.tf.train.checkpoint_options import CheckpointOptions
from frontends.tf.train.checkpoint_state import (
    get_checkpoint_state,
    is_present,
    latest_checkpoint,
    update_checkpoint_state,
)
from spmd.checkpoint import chosen_by_first, clear, remove

_HOUR = 3600.0


class CheckpointManager:
    """Saves a `tf.train.Checkpoint` in a folder, and deletes older ones.

    What it knows stands in the folder's file `checkpoint`, so a later manager goes on with it. If the latest checkpoint
    is damaged, a warning says so, and the one before it is the latest.

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
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        """Takes a folder.

        Args:
            checkpoint: what is saved and restored.
            directory: where; that of the first process counts.
            max_to_keep: how many checkpoints stay; None keeps all.
            keep_checkpoint_every_n_hours: a checkpoint that would be deleted stays for good, if it is so many hours
                younger than the last one that stayed.
            checkpoint_name: what the names of the checkpoints begin with.
            step_counter: variable with the number of the step, for `checkpoint_interval`.
            checkpoint_interval: `save` saves only if so many steps have passed.
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
        self._directory = os.fspath(directory)
        self._max_to_keep = max_to_keep
        self._keep_hours = keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._init_fn = init_fn
        self._last_step = last_checkpoint_step
        self._clean = False
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
        """How many steps pass between two checkpoints at least."""
        return self._interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint, for `checkpoint.restore`; None if there is none.

        One of an earlier manager is read and checked when it is first asked for, by each process that asks.
        """
        if self._is_to_find:
            self._latest, self._is_to_find = latest_checkpoint(self._directory), False
            self._is_checked = True
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the checkpoints that may be deleted later, oldest first."""
        return list(self._times)

    def save(
        self,
        checkpoint_number: Any = None,
        check_interval: bool = True,
        options: CheckpointOptions | None = None,
    ) -> str | None:
        """Saves if it is time to, and deletes what is too old; all processes must call it.

        Blocks as `Checkpoint.save` does.

        Args:
            checkpoint_number: number of the checkpoint; None takes the checkpoint's `save_counter`.
            check_interval: False saves before `checkpoint_interval` has passed, too, but not twice at one step.
            options: how to write.

        Returns:
            The path, in all processes what the first one's is; None if nothing was saved.

        Raises:
            ValueError: an object cannot be kept.
            TimeoutError: a process does not save; the message names it.

        Source: `tf.train.CheckpointManager.save`.
        """
        if self._interval is not None:
            step = _number(self._step_counter)
            last = self._last_step
            if last is not None and (
                step == last or (check_interval and step < last + self._interval)
            ):
                return None
            self._last_step = step
        counter = self._checkpoint.save_counter
        counter.assign_add(1)
        path = (
            f"{self._prefix}-{_number(counter if checkpoint_number is None else checkpoint_number)}"
        )
        self._checkpoint.sync()
        if not self._clean:
            clear(self._directory)
            self._clean = True
        times = {old: when for old, when in self._times.items() if old != path} | {
            path: time.time()
        }
        kept, deleted, preserved = self._sweep(times)

        def done() -> None:
            # Twice, so that who is killed in between finds the new one, and nothing that is gone.
            _record(path, times, self._preserved)
            for old in deleted:
                remove(old)
            _record(path, kept, preserved)

        saved = self._checkpoint.write_and(path, options, done)
        if saved != path:
            kept[saved] = kept.pop(path)
            update_checkpoint_state(saved, list(kept), folder=self._directory)
        self._latest, self._times, self._preserved = saved, kept, preserved
        self._is_to_find = self._is_checked = False
        return saved

    def restore_or_initialize(self) -> str | None:
        """Restores the latest checkpoint, or calls `init_fn` if there is none; all processes must call it.

        The first process says which is the latest, and alone reads all of it, once.

        Returns:
            The path of what was restored, or None.

        Raises:
            ValueError: the checkpoint does not fit the objects, or not all processes have it.
            TimeoutError: a process does not restore; the message names it.

        Source: `tf.train.CheckpointManager.restore_or_initialize`.
        """
        self._latest = chosen_by_first(lambda: self.latest_checkpoint, self._checkpoint.timeout)
        checked, self._is_to_find, self._is_checked = self._is_checked, False, False
        if self._latest is not None:
            self._checkpoint.restore_found(self._latest, checked=checked)
            if self._interval is not None:
                self._last_step = _number(self._step_counter)
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self) -> None:
        """Waits until what was saved is on disk and checked.

        Raises:
            BaseException: what went wrong while it was written.
        """
        self._checkpoint.sync()

    def _recover(self) -> None:
        """Takes over what an earlier manager of the folder knew."""
        now = time.time()
        state = get_checkpoint_state(self._directory)
        self._times: dict[str, float] = {}
        self._latest: str | None = None
        self._is_to_find, self._is_checked = state is not None, False
        # TensorFlow's second: the first checkpoint of this manager is younger in any case.
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
        """Says what stays, what goes, and when the last one was saved that stays for good."""
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


def _number(value: Any) -> int:
    return int(np.asarray(value.numpy() if hasattr(value, "numpy") else value))
