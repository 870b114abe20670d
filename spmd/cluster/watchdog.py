"""Notices when a process of the cluster has ended, is frozen, or keeps the others waiting.

In each process a thread tells process 0 how far it is, over the connections that stay from the start
(`spmd.cluster.rendezvous`). Process 0 decides (`spmd.cluster.verdict`) and tells all; the others decide only
about process 0. Each then reports the verdict and exits, with the retryable code if another start may help.

None of this passes through JAX's coordination service, which process 0 hosts and which dies with it.

The engine reports progress through `progress` (`spmd.cluster.progress`).
"""

import ctypes
import dataclasses
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spmd.cluster import report, script_position
from spmd.cluster.exit_codes import RETRYABLE_EXIT_CODE
from spmd.cluster.progress import Progress, progress
from spmd.cluster.roster import Roster
from spmd.cluster.verdict import Limits, TaskState, Verdict, judge
from spmd.cluster.wire import Line, readable

__all__ = ["Progress", "Watchdog", "delay_aborts", "progress"]

_LONGEST_BEAT = 5.0
_LISTEN_SECONDS = 0.2  # after so long the thread sees what this process itself has to say
_GOODBYE_SECONDS = 1.0  # how long process 0 waits for the others to hear its verdict
_END_SECONDS = 10.0  # what fails is ended then, whatever the thread does
# So long a process may take to fail by itself when another one has failed; less than `delay_aborts` gives.
_SAME_ERROR_SECONDS = 3.0


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
            limits = Limits(math.inf, limits.silent_seconds, math.inf)
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
        self._ended = False
        self._fails = threading.Event()
        self._exit_code: int | None = None
        self._is_shown = False

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
        self._me.take(self._beat_of_mine(), self._ended, now)
        known = self._peers | {self._roster.process_id: self._me}
        compared = self._progress if self._roster.process_id == 0 else None
        return [known[i].state(self._task(i), now, compared) for i in sorted(known)]

    def _task(self, process: int) -> str:
        # On one machine the ports are new at each start, and say nothing.
        roster = self._roster
        return roster.names[process] if roster.is_local else roster.label(process)

    def _beat_of_mine(self) -> list[Any]:
        mine = self._progress
        return [mine.orders, mine.doing, mine.waits, mine.call, script_position.of_main_thread()]

    def end(self) -> bool:
        """Says that the script of this process has ended, and waits until all have; every process must call it.

        The wait is bounded by the watchdog itself, which ends processes that make no step for too long.

        Returns:
            Whether all have ended.
        """
        self._ended = True
        while not self._all_ended.wait(1.0):
            if not self.is_alive():
                return False
        return True

    def stop(self) -> None:
        """Stops watching, and waits until the thread has ended."""
        self._over.set()
        self.join(self._beat + 1)

    def fail(self, text: str, exit_code: int, seconds: float, *, shown: bool = False) -> None:
        """Tells the others that this process has failed, and ends it; blocks for `seconds` and 10 more at most.

        Args:
            text: what happened, as the rest of a sentence that begins with the name of this task.
            exit_code: with which code this process ends.
            seconds: how long the failure may be the consequence of another one, which the watchdog then
                reports instead.
            shown: whether this process has printed what happened.
        """
        self.join(seconds)
        self._exit_code, self._is_shown = exit_code, shown
        self._me.failure = text
        self._fails.set()
        self.join(_END_SECONDS)
        self._exit(exit_code)

    def _receive(self, process: int, messages: list[dict[str, Any]] | None) -> None:
        peer, now = self._peers[process], self._clock()
        if messages is None:
            peer.lost = not self._all_ended.is_set()
            self._lines.pop(process).close()
            return
        peer.heard = now
        for message in messages:
            if isinstance(message.get("verdict"), dict):
                self._report(Verdict(**message["verdict"]))
            if message.get("all_ended"):
                self._all_ended.set()
            if isinstance(message.get("beat"), list):
                peer.take(message["beat"], bool(message.get("ended")), now)
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
            "ended": self._ended,
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

    def _end(self, verdict: Verdict) -> None:
        if self._roster.process_id == 0:
            self._send({"verdict": dataclasses.asdict(verdict)})
            for line in self._lines.values():
                line.finish()
        elif self._me.failure:
            # Process 0 hears of it, decides, and tells all, this process too.
            return
        self._report(verdict)

    def _report(self, verdict: Verdict) -> None:
        """Prints what happened, and ends this process."""
        if self._over.is_set():
            return
        if verdict.failed:
            # What is wrong with one script is often wrong with all: then it ends this process as well.
            self._fails.wait(_SAME_ERROR_SECONDS)
        code = self._exit_code
        if code is None:
            code = RETRYABLE_EXIT_CODE if verdict.retryable else 1
        me = self.tasks()[0 if self._roster.process_id == 0 else -1]
        ends = f"{me.name}, {me.at}, exits with code {code}"
        ends += " (retryable)" * (code == RETRYABLE_EXIT_CODE)
        ends += ", and the other tasks end too." if self._is_shown else "."
        stacks = verdict.shows_stacks and not (me.ended or me.call)
        ends += " Its Python stacks:" * stacks
        said = [] if self._is_shown else verdict.text.split("\n")
        report.write([*said, ends], stacks=stacks)
        self._over.set()
        self._say_goodbye()
        self._exit(code)

    def _say_goodbye(self) -> None:
        """Lets the others read what was sent: to close a connection with something unread in it may take that back."""
        if self._roster.process_id != 0:
            return
        patience = time.monotonic() + _GOODBYE_SECONDS
        while self._lines and time.monotonic() < patience:
            for line in readable(self._lines.values(), patience - time.monotonic()):
                if line.receive() is None:
                    self._lines = {i: one for i, one in self._lines.items() if one is not line}


class _Peer:
    """What is known of one process."""

    def __init__(self, now: float) -> None:
        self.steps, self.doing, self.waits, self.call, self.script_position = 0, "", False, "", ""
        self.orders: Sequence[tuple[int, int]] = ()
        self.moved = self.settled = self.heard = now
        self.ended = self.lost = False
        self.failure = ""

    def take(self, beat: list[Any], ended: bool, now: float) -> None:
        match beat:
            case [[[int(steps), int()], *_] as orders, doing, waits, call, where]:
                if steps != self.steps:
                    self.moved = now
                if (call, ended) != (self.call, self.ended):
                    self.settled = now
                self.steps, self.orders = steps, orders
                self.doing, self.waits = str(doing), bool(waits)
                self.call, self.script_position, self.ended = str(call), str(where), ended
                self.heard = now
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
            call="" if self.ended else self.call,
            script_position=self.script_position,
            settled_seconds=self.heard - self.settled,
            diverged=compared is not None and not compared.agrees(self.orders),
            ended=self.ended,
            lost=self.lost,
            failure=self.failure,
        )


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
