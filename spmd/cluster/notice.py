"""A notice that a process will be ended soon, which all processes hear of.

It comes as SIGTERM, or out of a function that asks the platform. The thread that looks for it, `spmd-preemption`, costs
the training nothing: once a second it reads one key of the cluster's store.
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
_LOOK_SECONDS = 1.0
_END_SECONDS = 2.0
_numbers = itertools.count()


class Notice:
    """Waits for a notice to any process. All processes make it, in the same order; it does not block.

    Attributes:
        told_at: when this process was told, by `time.monotonic`; None if it was not.

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
        """Starts to wait.

        Args:
            heard: called once, by the thread, with the name of the task that got the notice.
            watch: asked once a second whether this process got it; must not block. If it raises, it is asked again.
            sigterm: whether SIGTERM is the notice; the signal does not end the process any more.

        Raises:
            ValueError: signals can be taken over by the main thread only, and this is another one.
        """
        self._heard, self._watch = heard, watch
        self._key = f"preemption/{next(_numbers)}"
        self._told, self._closed = threading.Event(), threading.Event()
        self.told_at: float | None = None
        self._sigterm = Sigterm(self.tell) if sigterm else None
        self._thread = threading.Thread(target=self._look, name="spmd-preemption", daemon=True)
        self._thread.start()

    def tell(self) -> None:
        """Gives the notice to this process; does not block."""
        if self.told_at is None:
            self.told_at = time.monotonic()
        self._told.set()

    def close(self) -> None:
        """Stops waiting, and gives the signal back."""
        self._closed.set()
        self._told.set()  # wakes the thread
        if threading.current_thread() is not self._thread:
            self._thread.join(_END_SECONDS)
        if self._sigterm is not None:
            self._sigterm.close()

    def _look(self) -> None:
        said = ""
        while True:
            told = self._told.wait(_LOOK_SECONDS)
            if self._closed.is_set():
                return
            try:
                task = self._who_was_told(told)
            except Exception as error:  # the platform or the store may be back in a second
                if str(error) != said:
                    said = str(error)
                    _LOG.warning("Looked for a notice in vain, and goes on: %r", error)
                self._closed.wait(_LOOK_SECONDS)
                continue
            if task is not None:
                self._heard(task)
                return

    def _who_was_told(self, told: bool) -> str | None:
        if told or (self._watch is not None and self._watch()):
            self.tell()
            with contextlib.suppress(StoreKeyError):  # another task was told before
                store.put(self._key, runtime.task_names()[runtime.process_id()])
        return store.peek(self._key)
