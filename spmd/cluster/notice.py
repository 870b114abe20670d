"""A preemption notice: one process will be ended soon, and all of them learn of it.

The notice is SIGTERM, or comes from a function that polls the platform. The thread that waits for it,
`spmd-preemption`, reads one key of the cluster's store once a second, so training pays nothing.
"""

import contextlib
import itertools
import logging
import threading
import time
from collections.abc import Callable

from spmd.cluster import runtime, store
from spmd.cluster.sigterm import Sigterm
from spmd.errors import StoreKeyError

_LOG = logging.getLogger("spmd.cluster")
_POLL_SECONDS = 1.0
_END_SECONDS = 2.0
_numbers = itertools.count()


class Notice:
    """Waits, on a thread, for a notice to any process. All processes construct it, in the same order.

    Attributes:
        told_at: when this process was notified, by `time.monotonic`; None if it was not.

    Examples:
        >>> heard = threading.Event()
        >>> notice = Notice(lambda task: heard.set(), sigterm=False)
        >>> notice.tell()
        >>> heard.wait(60.0)
        True
    """

    def __init__(
        self,
        heard: Callable[[str], None],
        *,
        watch: Callable[[], bool] | None = None,
        sigterm: bool = True,
    ) -> None:
        """Starts the thread.

        Args:
            heard: called once, by the thread, with the name of the task that got the notice.
            watch: returns whether this process got a notice; called once a second, must not block, and is called
                again if it raises.
            sigterm: whether SIGTERM is a notice; if so, it no longer ends the process.

        Raises:
            ValueError: `sigterm` is set, and this is not the main thread, which alone can handle signals.
        """
        self._heard, self._watch = heard, watch
        self._key = f"preemption/{next(_numbers)}"
        self._told, self._closed = threading.Event(), threading.Event()
        self.told_at: float | None = None
        self._sigterm = Sigterm(self.tell) if sigterm else None
        self._thread = threading.Thread(target=self._poll, name="spmd-preemption", daemon=True)
        self._thread.start()

    def tell(self) -> None:
        """Notifies this process; does not block."""
        if self.told_at is None:
            self.told_at = time.monotonic()
        self._told.set()

    def close(self) -> None:
        """Stops the thread, and restores the handling of SIGTERM."""
        self._closed.set()
        self._told.set()  # wakes the thread
        if threading.current_thread() is not self._thread:
            self._thread.join(_END_SECONDS)
        if self._sigterm is not None:
            self._sigterm.close()

    def _poll(self) -> None:
        said = ""
        while True:
            told = self._told.wait(_POLL_SECONDS)
            if self._closed.is_set():
                return
            try:
                task = self._who_was_told(told)
            except Exception as error:  # the platform or the store may be back in a second
                if str(error) != said:
                    said = str(error)
                    _LOG.warning(
                        "Polling for a preemption notice failed and will be retried: %r", error
                    )
                self._closed.wait(_POLL_SECONDS)
                continue
            if task is not None:
                self._heard(task)
                return

    def _who_was_told(self, told: bool) -> str | None:
        shared = store.current()
        if told or (self._watch is not None and self._watch()):
            self.tell()
            with contextlib.suppress(StoreKeyError):  # another task was notified first
                shared.put(self._key, runtime.task_names()[runtime.process_id()])
        return shared.peek(self._key)
