"""`tf.distribute.experimental.PreemptionWatcher`: whether a task is about to be terminated, for scripts that ask."""

import weakref

from spmd.cluster import Notice


class PreemptionWatcher:
    """Takes SIGTERM over, and tells in all tasks that one of them got it.

    All tasks make it, after the strategy. The signal does not end the task any more: that is left to the script.

    Examples:
        >>> from frontends import tf
        >>> watcher = tf.distribute.experimental.PreemptionWatcher()
        >>> watcher.preemption_message is None
        True

    Source: `tf.distribute.experimental.PreemptionWatcher`.
    """

    def __init__(self) -> None:
        """Starts to watch, and does not block.

        Raises:
            ValueError: this is not the main thread, which alone can take signals over.
        """
        self._messages: list[str] = []
        notice = Notice(self._messages.append)
        self._close = weakref.finalize(self, notice.close)

    @property
    def preemption_message(self) -> str | None:
        """The task that is about to be terminated, such as `"worker 1"`; None until then."""
        return self._messages[0] if self._messages else None

    def block_until_worker_exit(self) -> None:
        """Does nothing, as in TensorFlow outside of its own TPU platform: when one task ends, all do."""
