"""`tf.keras.callbacks.BackupAndRestore`, which resumes with the next batch, in any number of processes.

Keras's own writes two files one after the other, in every process, and resumes with the first batch of an epoch.

Internals of Keras that this touches: `_symbolic_build`, by which its loops show their `EpochIterator` to the model,
and how that counts: `_enumerate_iterator`, `_steps_seen`, `_current_iterator`; `_initial_epoch`, where `fit`
looks for the epoch to begin with. tests/frontends/tf/keras/test_backup.py runs them on every supported version.
"""

import contextlib
import os
import shutil
import sys
import weakref
from collections.abc import Generator, Iterator
from typing import Any

import jax
import keras

from frontends.tf.keras._server_fit import WorkersLoop
from frontends.tf.ops.random_stream import STREAM
from spmd.checkpoint import Checkpoint, CheckpointManager, KeepPolicy, PreemptionSync
from spmd.cluster import RETRYABLE_EXIT_CODE, all_gather_small
from spmd.files import StorePath, is_url
from spmd.integrations.keras import Method
from spmd.typing import StrPath

# Of each model's latest loop; whoever holds an iterator keeps its threads running.
_ITERATORS: weakref.WeakKeyDictionary[Any, weakref.ref[Any]] = weakref.WeakKeyDictionary()

# Of each model that is being fitted, what watches for SIGTERM.
_SYNCS: weakref.WeakKeyDictionary[Any, list[PreemptionSync]] = weakref.WeakKeyDictionary()


def note_iterator(
    build: Method, /, self: Any, iterator: Any = None, *args: Any, **kwargs: Any
) -> None:
    """Wraps `Trainer._symbolic_build`: notes the iterator that a loop shows to the model."""
    if iterator is not None:
        _ITERATORS[self] = weakref.ref(iterator)
    build(self, iterator, *args, **kwargs)


@contextlib.contextmanager
def giving_sigterm_back(model: Any) -> Generator[None]:
    """Stops watching for SIGTERM when `fit` is over, also after an error, which Keras reports to no callback."""
    try:
        yield
    finally:
        for sync in _SYNCS.pop(model, ()):
            sync.close()


def enumerate_rest(enumerate_: Method, /, self: Any) -> Iterator[Any]:
    """Wraps `EpochIterator._enumerate_iterator`: the first epoch after a restart begins at the saved position."""
    place = vars(self).pop("_resume_at", None)
    if place is None:
        yield from enumerate_(self)
        return
    resume = getattr(self.data_adapter, "resume_at", None)
    if resume is not None:
        resume(place["data"], place["read"])
    if self.steps_per_epoch is not None:
        # One pass serves several epochs: Keras takes the iterator that is there.
        self._current_iterator = iter(self._get_iterator())
        self._steps_seen = place["read"] - place["step"]
    unread = place["read"] if resume is None else 0
    for begin, end, iterator in enumerate_(self):
        for _ in range(unread):
            next(iterator)
        unread = 0
        if begin >= place["step"]:
            yield begin, end, iterator


def _of_rest(model: Any) -> Method:
    """Tolerates that there is no batch after a restart: the last one was not known to be the epoch's last."""
    train = model.train_function

    def train_function(state: Any, iterator: Any) -> Any:
        model.train_function = train
        try:
            return train(state, iterator)
        except StopIteration:
            return model.get_metrics_result(), state

    return train_function


class _Place:
    """The position of training: epoch, step, and what was read of the data. Every process keeps its own."""

    def __init__(self) -> None:
        self.now: dict[str, Any] = {}

    def get_state(self) -> dict[str, Any]:
        return self.now

    def set_state(self, state: dict[str, Any]) -> None:
        self.now = state


class BackupAndRestore(keras.callbacks.BackupAndRestore):
    """Saves during training, so that an interrupted `fit` resumes with the next batch.

    What differs here: it saves the model, the optimizer, the metrics, the random numbers and the position in the data
    by `spmd.checkpoint`: verified, and never half. All workers pass it with the same folder. The state of other
    callbacks (how long `EarlyStopping` has waited) is not restored, nor are the shuffles of arrays. Under a
    `ParameterServerStrategy` workers read their datasets from the beginning; a save within an epoch waits for them.

    Args:
        backup_dir: a folder for nothing else.
        save_freq: `"epoch"`, or the number of batches between two saves; False for none, with
            `save_before_preemption`.
        double_checkpoint: whether the second-last one is kept, too.
        delete_checkpoint: whether all are deleted at the end of `fit`.
        save_before_preemption: whether SIGTERM to any worker makes all save after the same batch, and exit with the
            code that makes job controllers restart them, 143.

    Raises:
        ValueError: there is no folder, or `save_freq` is neither.

    Examples:
        >>> from frontends import tf
        >>> callback = tf.keras.callbacks.BackupAndRestore("backup", save_freq=100)
        >>> callback.backup_dir
        'backup'

    Source: `tf.keras.callbacks.BackupAndRestore`.
    """

    def __init__(
        self,
        backup_dir: StrPath,
        save_freq: Any = "epoch",
        double_checkpoint: bool = False,
        delete_checkpoint: bool = True,
        save_before_preemption: bool = False,
    ) -> None:
        super().__init__(os.fspath(backup_dir), save_freq, double_checkpoint, delete_checkpoint)
        if not save_freq and not save_before_preemption:
            raise ValueError(
                "With save_freq=False nothing would be saved. Pass save_before_preemption=True as well, or a "
                "number of batches."
            )
        self._saves_before_preemption = save_before_preemption
        self._sync: PreemptionSync | None = None
        self._path: str | None = None

    def on_train_begin(self, logs: object = None) -> None:
        """Restores the latest backup, if there is one."""
        model: Any = self.model
        self._latest_iterator = _ITERATORS[model]
        self._place = _Place()
        checkpoint = Checkpoint(
            model=model,
            optimizer=model.optimizer,
            metrics=model.metrics,
            random=STREAM,
            place=self._place,
        )
        keep = KeepPolicy(last=2 if self.double_checkpoint else 1)
        self._manager = CheckpointManager(checkpoint, self.backup_dir, keep=keep)
        restored = self._manager.restore_latest()
        found = self._manager.checkpoints
        self._path = None if restored is None else found[restored]
        # New numbers are higher than those of damaged ones, too; process 0 sees all of them.
        highest = all_gather_small("keras/backup/number", str(max(found, default=0)))
        self._number = int(highest[0])
        place = self._place.now
        self._current_epoch = place.get("epoch", 0)
        self._last_batch_seen = place.get("step", 0) - 1
        self._batches_seen_since_last_saving = 0
        self._saves_at_end = self._exits_at_end = False
        if place:
            model._initial_epoch = place["epoch"]
            self._iterator._resume_at = place
            if isinstance(model.train_function, WorkersLoop):
                model.train_function.resume_at(place["step"])
            elif place["step"]:
                model.train_function = _of_rest(model)
        if self._saves_before_preemption:
            self._sync = PreemptionSync()
            _SYNCS.setdefault(model, []).append(self._sync)

    def on_epoch_begin(self, epoch: int, logs: object = None) -> None:
        """Restores the metrics of this epoch, which Keras has reset."""
        self._current_epoch = epoch
        if self._path is not None:
            model: Any = self.model
            if self._place.now["step"]:
                Checkpoint(metrics=model.metrics).restore(self._path).expect_partial()
            self._path = None

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:
        """Saves if it is due."""
        ends = self._must_exit()
        if not ends and not (self.save_freq and self._should_save_on_batch(batch)):
            return
        steps = self._iterator.num_batches
        if steps is not None and batch + 1 >= steps:
            # Keras cannot resume an epoch without a batch left: it is finished first.
            self._saves_at_end, self._exits_at_end = True, ends
        else:
            self._save(self._current_epoch, batch + 1, self._iterator._steps_seen, ends)

    def on_epoch_end(self, epoch: int, logs: object = None) -> None:
        """Saves if it is due."""
        self._last_batch_seen = -1
        ends = self._must_exit() or self._exits_at_end
        if self.save_freq == "epoch" or self._saves_at_end or ends:
            self._saves_at_end = False
            loop = self._iterator
            new_pass = loop.steps_per_epoch is None or loop._current_iterator is None
            self._save(epoch + 1, 0, 0 if new_pass else loop._steps_seen, ends)

    def on_train_end(self, logs: object = None) -> None:
        """Deletes the backups: training is over."""
        if self._sync is not None:
            self._sync.close()
        if self.delete_checkpoint:
            if jax.process_index() == 0:
                with contextlib.suppress(OSError):
                    if is_url(self.backup_dir):
                        StorePath(self.backup_dir).rmtree()
                    else:
                        shutil.rmtree(self.backup_dir)
            # After this, all processes find the folder deleted.
            all_gather_small("keras/backup", "")

    @property
    def _iterator(self) -> Any:
        return self._latest_iterator()  # fit holds it

    def _must_exit(self) -> bool:
        return self._sync is not None and self._sync.reached()

    def _save(self, epoch: int, step: int, read: int, exit: bool) -> None:
        model: Any = self.model  # writes the state of Keras's loop into the variables
        if isinstance(model.train_function, WorkersLoop):
            model.train_function.wait()
        position = "position" if read else "next_position"
        data = getattr(self._iterator.data_adapter, position, None)
        self._place.now = {"epoch": epoch, "step": step, "read": read, "data": data}
        self._number += 1
        self._manager.save(self._number)
        self._manager.wait()  # as Keras does: only what came after is ever lost
        if exit:
            sys.exit(RETRYABLE_EXIT_CODE)
