"""Notices when a process of the cluster has ended, is frozen, or keeps the others waiting.

In each process a thread tells process 0 how far it is, over the connections that stay from the start
(`spmd.cluster.rendezvous`). Process 0 decides (`spmd.cluster.verdict`) and tells all; the others decide only
about process 0. Each then prints the verdict and its own Python stacks, and exits with the retryable code.

None of this passes through JAX's coordination service, which process 0 hosts and which dies with it.

The engine reports progress through `progress` (`spmd.cluster.progress`).
"""

import contextlib
import ctypes
import faulthandler
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spmd.cluster.exit_codes import RETRYABLE_EXIT_CODE
from spmd.cluster.progress import Progress, progress
from spmd.cluster.roster import Roster
from spmd.cluster.verdict import Limits, TaskState, judge
from spmd.cluster.wire import Line, readable

__all__ = ["Progress", "Watchdog", "delay_aborts", "progress"]

_LONGEST_BEAT = 5.0
_LISTEN_SECONDS = 0.2  # after so long the thread sees what this process itself has to say
_GOODBYE_SECONDS = 1.0  # how long process 0 waits for the others to hear its verdict
_REPORT_SECONDS = 5.0  # a report into a pipe that nobody reads ends then


class Watchdog(threading.Thread):
    """A thread that watches the other processes.

    Args:
        roster: the processes, and which of them this is.
        lines: the lines of `spmd.cluster.rendezvous.meet`.
        limits: how long a process may be idle or silent.
        progress: how far this process is.
        clock: gives seconds.
        exit_process: ends the process with a code, at once.
    """

    def __init__(
        self,
        roster: Roster,
        lines: Mapping[int, Line],
        limits: Limits,
        *,
        progress: Progress = progress,
        clock: Callable[[], float] = time.monotonic,
        exit_process: Callable[[int], None] = os._exit,
    ) -> None:
        super().__init__(name="spmd-watchdog", daemon=True)
        if roster.process_id != 0:  # who lags is seen by process 0 alone
            limits = Limits(math.inf, limits.silent_seconds)
        self._roster, self._lines, self._limits = roster, dict(lines), limits
        self._progress, self._clock, self._exit = progress, clock, exit_process
        self._beat = min(_LONGEST_BEAT, limits.silent_seconds / 5)
        now = clock()
        self._peers = {process: _Peer(now) for process in lines}
        self._me = _Peer(now)
        self._next_beat = now
        self._told: Any = None
        self._all_ended = threading.Event()
        self._over = threading.Event()
        self._exit_code = RETRYABLE_EXIT_CODE

    def run(self) -> None:
        """Watches until the cluster ends."""
        while not self._over.is_set():
            self.tick(self._next_beat - self._clock())
        for line in self._lines.values():
            line.close()

    def tick(self, seconds: float) -> None:
        """Listens, speaks and decides once.

        Args:
            seconds: how long to listen at most.
        """
        for line in readable(self._lines.values(), min(seconds, _LISTEN_SECONDS)):
            process = next(i for i, other in self._lines.items() if other is line)
            self._receive(process, line.receive())
        # Asked before the verdict, which is to know all that was run before the end.
        all_ended = all(peer.ended for peer in (self._me, *self._peers.values()))
        verdict = None if self._all_ended.is_set() else judge(self.tasks(), self._limits)
        if verdict:
            self._end(verdict)
        self._speak(all_ended)

    def tasks(self) -> list[TaskState]:
        """Returns what this process knows: process 0 of all, the others of themselves and process 0."""
        now = self._clock()
        self._me.take(self._beat_of_mine(), now)
        self._me.heard = now
        known = self._peers | {self._roster.process_id: self._me}
        compared = self._progress if self._roster.process_id == 0 else None
        return [known[i].state(self._roster.label(i), now, compared) for i in sorted(known)]

    def _beat_of_mine(self) -> list[Any]:
        mine = self._progress
        return [mine.orders, mine.doing, mine.waits]

    def end(self) -> bool:
        """Says that the script of this process has ended, and waits until all have; every process must call it.

        The wait is bounded by the watchdog itself, which ends processes that make no step for too long.

        Returns:
            Whether all have ended.
        """
        self._me.ended = True
        while not self._all_ended.wait(1.0):
            if not self.is_alive():
                return False
        return True

    def stop(self) -> None:
        """Stops watching, and waits until the thread has ended."""
        self._over.set()
        self.join(self._beat + 1)

    def fail(self, text: str, exit_code: int, seconds: float) -> None:
        """Tells the others that this process has failed, and ends it; blocks for `seconds` and 5 more at most.

        Args:
            text: what happened.
            exit_code: with which code this process ends.
            seconds: how long the failure may be the consequence of another one, which the watchdog then
                reports instead.
        """
        self.join(seconds)
        self._exit_code = exit_code
        self._me.failure = text
        self.join(_REPORT_SECONDS)
        self._exit(exit_code)

    def _receive(self, process: int, messages: list[dict[str, Any]] | None) -> None:
        peer, now = self._peers[process], self._clock()
        if messages is None:
            peer.lost = not self._all_ended.is_set()
            self._lines.pop(process).close()
            return
        peer.heard = now
        for message in messages:
            if "verdict" in message:
                self._report(str(message["verdict"]), str(message.get("tasks", "")))
            if message.get("all_ended"):
                self._all_ended.set()
            if isinstance(message.get("beat"), list):
                peer.take(message["beat"], now)
                peer.ended = peer.ended or bool(message.get("ended"))
                peer.failure = str(message.get("failure", ""))

    def _speak(self, all_ended: bool) -> None:
        now = self._clock()
        everybody = (self._me, *self._peers.values())
        news = all_ended, [(peer.ended, peer.failure) for peer in everybody]
        if now < self._next_beat and news == self._told:
            return
        self._next_beat, self._told = now + self._beat, news
        beat = {
            "beat": self._beat_of_mine(),
            "ended": self._me.ended,
            "failure": self._me.failure,
        }
        if self._roster.process_id == 0 and all_ended:
            self._send(beat | {"all_ended": True})
            self._all_ended.set()
        else:
            self._send(beat)

    def _send(self, message: Mapping[str, Any]) -> None:
        for line in self._lines.values():
            line.send(message)

    def _end(self, verdict: str) -> None:
        tasks = "; ".join(map(str, self.tasks()))
        if self._roster.process_id == 0:
            self._send({"verdict": verdict, "tasks": tasks})
            for line in self._lines.values():
                line.finish()
            # To close a connection with something unread in it may take back what was sent.
            patience = time.monotonic() + _GOODBYE_SECONDS
            while self._lines and time.monotonic() < patience:
                for line in readable(self._lines.values(), patience - time.monotonic()):
                    if line.receive() is None:
                        self._lines = {i: one for i, one in self._lines.items() if one is not line}
        elif self._me.failure:
            # Process 0 hears of it, decides, and tells all, this process too.
            return
        self._report(verdict, tasks)

    def _report(self, verdict: str, tasks: str) -> None:
        """Prints what happened and where this process is, and ends it."""
        if self._over.is_set():
            return

        def write() -> None:
            me, code = self._roster.label(self._roster.process_id), self._exit_code
            again = " (retryable)" * (code == RETRYABLE_EXIT_CODE)
            print(  # on a line of its own, also where the script is in the middle of one
                f"\njaxtribute: {verdict}\n"
                f"jaxtribute: this is {me} at step {self._progress.steps}; tasks: {tasks}.\n"
                f"jaxtribute: {me} exits with code {code}{again}. Its Python stacks:",
                file=sys.stderr,
                flush=True,
            )
            dump_stacks()
            sys.stdout.flush()

        # In a thread, since writing blocks where nobody reads.
        thread = threading.Thread(target=write, daemon=True)
        try:
            thread.start()
            thread.join(_REPORT_SECONDS)
        except RuntimeError:
            # From Python 3.12 on there are no new threads once the script has ended.
            faulthandler.dump_traceback_later(_REPORT_SECONDS, exit=True)
            write()
        self._over.set()
        self._exit(self._exit_code)


class _Peer:
    """What is known of one process."""

    def __init__(self, now: float) -> None:
        self.steps, self.doing, self.waits = 0, "", False
        self.orders: Sequence[tuple[int, int]] = ()
        self.moved = self.heard = now
        self.ended = self.lost = False
        self.failure = ""

    def take(self, beat: list[Any], now: float) -> None:
        match beat:
            case [[[int(steps), int()], *_] as orders, doing, waits]:
                if steps != self.steps:
                    self.moved = now
                self.steps, self.orders = steps, orders
                self.doing, self.waits = str(doing), bool(waits)
            case _:
                pass

    def state(self, name: str, now: float, compared: Progress | None) -> TaskState:
        return TaskState(
            name,
            steps=self.steps,
            idle_seconds=now - self.moved,
            silent_seconds=now - self.heard,
            doing=self.doing,
            waits=self.waits,
            strays=compared is not None and not compared.agrees(self.orders),
            ended=self.ended,
            lost=self.lost,
            failure=self.failure,
        )


def dump_stacks() -> None:
    """Prints the Python stacks of all threads to the standard error."""
    try:
        faulthandler.dump_traceback(sys.stderr)
    except (AttributeError, OSError, RuntimeError, ValueError):  # no real file, as in a notebook
        with contextlib.suppress(OSError):
            faulthandler.dump_traceback(2)


def delay_aborts() -> None:
    """Lets six seconds pass between a call of `abort` and the end of the process.

    When process 0 dies, JAX's client in the others aborts them at once, from a thread of C++, and no option
    of `jax.distributed` prevents it. In these seconds the watchdog says who died, and ends the process with
    its own code. The handler of the signal is C's `sleep`, called with the signal's number, 6; it
    runs no Python, is safe in a handler, and afterwards the abort goes on.
    """
    library = ctypes.CDLL(None)
    library.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
    library.signal.restype = ctypes.c_void_p
    library.signal(signal.SIGABRT, ctypes.cast(library.sleep, ctypes.c_void_p))
