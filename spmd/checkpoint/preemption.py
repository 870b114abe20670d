"""Agreement on the step before which all processes save, when one of them is about to be terminated.

When a process gets a notice (`spmd.cluster.Notice`), all stop before their next step, exchange how many steps they
have begun, and agree on the first step that none of them has begun. Until then a step costs an uncontended lock.

`jax.experimental.multihost_utils.reached_preemption_sync_point` does the same, but for SIGTERM only and only once, and
JAX's service behind it takes over SIGTERM in every script, also in those that never ask.
"""

import itertools
import threading
from collections.abc import Callable
from typing import final

from spmd.cluster import Notice, all_gather_small

_numbers = itertools.count()


@final
class PreemptionSync:
    """Tells when to save because a process is about to be terminated.

    All processes make it, in the same order, and ask it before each step. It takes over SIGTERM.

    Attributes:
        task: the task that is about to be terminated, such as `"worker 1"`; None until then.

    Examples:
        >>> with PreemptionSync() as sync:
        ...     sync.reached()
        False
    """

    def __init__(
        self, *, watch: Callable[[], bool] | None = None, timeout: float | None = None
    ) -> None:
        """Starts to watch for a notice; does not block.

        Args:
            watch: tells whether this process is about to be terminated, instead of SIGTERM; called once a second.
            timeout: seconds that a process waits for the others to agree; None is a minute more than the watchdog
                waits.

        Raises:
            ValueError: without `watch`, on a thread other than the main one.
        """
        self._timeout = timeout
        # One key each: a notice that arrives during close reaches only some processes, and must not shift later rounds.
        self._key = f"preemption/begun/{next(_numbers)}"
        self._lock = threading.Lock()
        self._begun = 0
        self._save_at = -1
        self._error: BaseException | None = None
        self.task: str | None = None
        self._first = self._notice = Notice(self._agree, watch=watch, sigterm=watch is None)

    def __enter__(self) -> "PreemptionSync":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def told_at(self) -> float | None:
        """When this process got the notice, by `time.monotonic`; None if it did not."""
        return self._first.told_at

    def reached(self) -> bool:
        """Tells whether to save now; all processes must ask, before each step.

        Blocks only while the processes agree.

        Returns:
            True in all processes before the same step.

        Raises:
            ClusterWaitError: some process did not take part in the agreement; the message names it.
        """
        with self._lock:
            self._begun += 1
            if self._error is not None:
                raise self._error
            return self._begun == self._save_at

    def begin_last_round(self) -> None:
        """Prepares another agreement, which `tell` asks for; all processes must call it, after they saved."""
        self._notice = Notice(self._agree, sigterm=False)

    def tell(self) -> None:
        """Asks all processes to agree on the next step to save at; does not block."""
        self._notice.tell()

    def close(self) -> None:
        """Stops watching, and restores the former handling of SIGTERM."""
        self._notice.close()
        self._first.close()

    def _agree(self, task: str) -> None:
        with self._lock:  # this process begins no step meanwhile
            try:
                begun = all_gather_small(self._key, str(self._begun), self._timeout)
                self._save_at = max(map(int, begun)) + 1
            except Exception as error:  # reached() raises it where somebody sees it
                self._error = error
            self.task = task
