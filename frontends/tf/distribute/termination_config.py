"""`tf.distribute.experimental.TerminationConfig`: what happens when a task is about to be terminated."""

import dataclasses
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass
class TerminationConfig:
    """How a task learns that it will be terminated, and what `PreemptionCheckpointHandler` does then.

    The platform is not looked up: on Compute Engine, pass a function that asks its metadata server.

    Attributes:
        termination_watcher_fn: returns True once this task is about to be terminated. Called once a second, by a
            thread; must not block. None takes SIGTERM.
        exit_fn: called after the checkpoint is saved. None exits with code 143, which job controllers take as
            "start me again".
        grace_period: seconds from the notice to the end. With more than 0 a checkpoint is saved at once, training
            goes on, and another one is saved shortly before the time is over.
        save_fn: saves, instead of the manager's `save`; called with the arguments of `save_checkpoint_if_preempted`.

    Source: `tf.distribute.experimental.TerminationConfig`.
    """

    termination_watcher_fn: Callable[[], bool] | None = None
    exit_fn: Callable[[], Any] | None = None
    grace_period: float | None = None
    save_fn: Callable[..., Any] | None = None
