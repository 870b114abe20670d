"""`tf.distribute.experimental.PreemptionCheckpointHandler`: saves and exits on preemption."""

import contextlib
import os
import sys
import time
import weakref
from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from frontends.tf.distribute.cluster_resolver import ClusterResolver
from frontends.tf.distribute.termination_config import TerminationConfig
from frontends.tf.train.checkpoint import Checkpoint
from frontends.tf.train.checkpoint_manager import CheckpointManager
from frontends.tf.variable import Variable
from spmd.checkpoint import PreemptionSync
from spmd.cluster import RETRYABLE_EXIT_CODE
from spmd.input import mark_used, without_unused

# As in TensorFlow: the last save begins while there is time for this many more steps.
_SPARE_STEPS = 6


class PreemptionCheckpointHandler:
    """Saves a checkpoint in all tasks before the same step when one of them gets SIGTERM, and exits.

    It restores the latest checkpoint when it is made, so that a restarted task resumes where it stopped. All tasks
    must make it and call it alike. A batch that was read for a step that no longer runs counts as unread, if the
    iterator (of a dataset or distributed dataset) is in the checkpoint.

    Examples:
        >>> import tempfile
        >>> from frontends import tf
        >>> step = tf.Variable(0)
        >>> handler = tf.distribute.experimental.PreemptionCheckpointHandler(
        ...     None, tf.train.Checkpoint(step=step), tempfile.mkdtemp()
        ... )
        >>> handler.run(lambda: step.assign_add(1).numpy())
        np.int32(1)
        >>> handler.total_run_calls
        1

    Source: `tf.distribute.experimental.PreemptionCheckpointHandler`.
    """

    def __init__(
        self,
        cluster_resolver: ClusterResolver | None,
        checkpoint_or_checkpoint_manager: Checkpoint | CheckpointManager,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        termination_config: TerminationConfig | None = None,
    ) -> None:
        """Restores the latest checkpoint, and starts to watch for SIGTERM; all tasks must call it.

        Args:
            cluster_resolver: the strategy's `cluster_resolver`; None without a cluster.
            checkpoint_or_checkpoint_manager: what to save, or the manager that saves it.
            checkpoint_dir: the folder, for a checkpoint without a manager; it keeps one checkpoint.
            termination_config: how to notice preemption, save and exit.

        Raises:
            ValueError: there is a checkpoint without a folder, or the latest one does not fit; or this is
                not the main thread, which alone can handle SIGTERM.
            NotImplementedError: the cluster has parameter servers.
        """
        if cluster_resolver is not None and "ps" in cluster_resolver.cluster_spec().as_dict():
            raise NotImplementedError(
                "PreemptionCheckpointHandler does not support usage with "
                "tf.distribute.experimental.ParameterServerStrategy: its tasks take no steps together."
            )
        manager: Any = checkpoint_or_checkpoint_manager
        if not isinstance(manager, CheckpointManager):
            if not checkpoint_dir:
                raise ValueError(
                    "When a checkpoint is passed, a checkpoint_dir must be passed as well: "
                    "PreemptionCheckpointHandler(resolver, checkpoint, checkpoint_dir='runs/1')."
                )
            manager = CheckpointManager(manager, checkpoint_dir, max_to_keep=1)
        self._manager = manager
        config = termination_config or TerminationConfig()
        self._exit = config.exit_fn or (lambda: sys.exit(RETRYABLE_EXIT_CODE))
        self._save = config.save_fn or manager.save
        self._grace_seconds = config.grace_period or 0.0
        checkpoint = manager.checkpoint
        if not hasattr(checkpoint, "checkpointed_runs"):
            runs = Variable(np.int64(0), trainable=False, name="checkpointed_runs")
            checkpoint.checkpointed_runs = runs
        manager.restore_or_initialize()
        self._calls = int(checkpoint.checkpointed_runs.numpy())
        self._began = (self._calls, time.monotonic())
        self._exit_at: float | None = None
        self._is_last = self._grace_seconds <= 0
        self._sync = PreemptionSync(watch=config.termination_watcher_fn)
        self._close = weakref.finalize(self, self._sync.close)

    @property
    def total_run_calls(self) -> int:
        """How often `run` was called, restarts included."""
        return self._calls

    def run(self, distributed_train_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Saves and exits if a task was preempted and this is the agreed step; else calls a function.

        All tasks must call it, for each step.

        Raises:
            SystemExit: the checkpoint is saved; with `exit_fn`, what that raises.
            spmd.errors.ClusterWaitError: some task did not take part; the message names it.
        """
        if self._is_time():
            with without_unused():
                self._save_and_exit()
        result = distributed_train_function(*args, **kwargs)
        self._calls += 1
        mark_used()
        return result

    def save_checkpoint_if_preempted(self, *args: Any, **kwargs: Any) -> None:
        """Saves and exits if a task was preempted and all tasks are here; call it after each step.

        It counts as a call of `run`; its arguments go to the manager's `save`, or to `save_fn`.

        Raises:
            SystemExit: see `run`.
            spmd.errors.ClusterWaitError: see `run`.
        """
        mark_used()
        if self._is_time():
            self._save_and_exit(*args, **kwargs)
        self._calls += 1

    @contextlib.contextmanager
    def watch_preemption_scope(self) -> Generator[None]:
        """Does nothing: `run` suffices, on TPUs too."""
        yield

    def _is_time(self) -> bool:
        if self._exit_at is not None and time.monotonic() >= self._exit_at:
            self._exit_at = None
            self._sync.tell()
        return self._sync.reached()

    def _save_and_exit(self, *args: Any, **kwargs: Any) -> None:
        begin = time.monotonic()
        what = "exits" if self._is_last else f"has {self._grace_seconds:g} s to go on"
        print(
            f"jaxtribute: {self._sync.task} is about to be terminated: saves after {self._calls} calls, "
            f"then {what}.",
            file=sys.stderr,
            flush=True,
        )
        self._manager.checkpoint.checkpointed_runs.assign(self._calls)
        self._save(*args, **kwargs)
        self._manager.sync()
        if self._is_last:
            self._close()
            self._exit()
            return
        self._is_last = True
        self._sync.begin_last_round()
        if self._sync.told_at is not None:
            calls, since = self._began
            of_step = (begin - since) / max(1, self._calls - calls)
            of_save = time.monotonic() - begin
            self._exit_at = (
                self._sync.told_at + self._grace_seconds - 2 * of_save - _SPARE_STEPS * of_step
            )
