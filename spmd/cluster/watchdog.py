"""Notices when a process of the cluster has ended, is frozen, or keeps the others waiting.

A thread in each process sends heartbeats, or *beats*, with the progress of the process to process 0, over the connections
of the rendezvous. Process 0 decides (`spmd.cluster.verdict`) and tells all; the others judge only process 0. Each then
reports the verdict and exits, with the retryable code if a restart may help.

None of this goes through JAX's coordination service, which dies with process 0.
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

from spmd.cluster import error_file, report, script_position
from spmd.cluster.exit_codes import RETRYABLE_EXIT_CODE
from spmd.cluster.progress import Progress, progress
from spmd.cluster.roster import Roster
from spmd.cluster.verdict import Limits, TaskState, Verdict, judge
from spmd.cluster.wire import Line, readable

_LONGEST_BEAT = 5.0
_LISTEN_SECONDS = 0.2  # how soon the thread sees news of its own process
_GOODBYE_SECONDS = 1.0  # how long process 0 waits for the others to read its verdict
_EXIT_SECONDS = 10.0  # after which a failed process exits, whatever the thread does
_ALIVE_SECONDS = 1.0  # how often a process that has ended looks whether the thread still runs
# How long a process may take to fail by itself after another one has failed; less than `delay_aborts` gives.
_SAME_ERROR_SECONDS = 3.0


class Watchdog(threading.Thread):
    """A thread that watches the other processes.

    Args:
        roster: the processes, and which of them this is.
        lines: the lines of `spmd.cluster.rendezvous.meet`.
        limits: how long a process may keep the others waiting.
        progress: progress of this process.
        clock: returns seconds.
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
        if roster.process_id != 0:  # only process 0 sees who lags
            limits = Limits(math.inf, limits.silent_seconds, math.inf)
        self._roster, self._lines, self._limits = roster, dict(lines), limits
        self._progress, self._clock, self._exit = progress, clock, exit_process
        self._beat = min(_LONGEST_BEAT, limits.silent_seconds / 5)
        now = clock()
        local = roster.is_local  # then addresses say nothing: the ports are new at each start
        names = [roster.names[i] if local else roster.label(i) for i in range(len(roster.names))]
        self._peers = {i: _Peer(names[i], now) for i in sorted((roster.process_id, *lines))}
        self._me = self._peers[roster.process_id]
        self._next_beat = now
        self._told: object = None
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
        """Listens for at most `seconds`, decides and sends once."""
        processes = {line: process for process, line in self._lines.items()}
        for line in readable(processes, min(seconds, _LISTEN_SECONDS)):
            self._receive(processes[line], line.receive())
        # Read before the verdict, which must know all steps that were run before the end.
        all_ended = all(peer.said.ended for peer in self._peers.values())
        verdict = None if self._all_ended.is_set() else judge(self.tasks(), self._limits)
        if verdict:
            self._announce(verdict)
        self._send_news(all_ended)

    def tasks(self) -> list[TaskState]:
        """Returns what is known of all processes; processes other than 0 know only themselves and process 0."""
        now = self._clock()
        self._me.take(self._own_beat(), self._ended, now)
        compared = self._progress if self._roster.process_id == 0 else None
        return [peer.state(now, compared) for peer in self._peers.values()]

    def _own_beat(self) -> list[Any]:
        mine = self._progress
        where = script_position.of_main_thread()
        return [mine.orders, mine.doing, mine.waits, mine.call, mine.waits_for, where]

    def end(self) -> bool:
        """Reports that the script of this process has ended, and waits for the others; all processes must call it.

        The watchdog bounds the wait: it ends processes that start no step for too long.

        Returns:
            Whether all have ended.
        """
        self._ended = True
        while not self._all_ended.wait(_ALIVE_SECONDS):
            if not self.is_alive():
                return False
        return True

    def stop(self) -> None:
        """Stops watching, and waits until the thread has ended."""
        self._over.set()
        self.join(self._beat + 1)

    def fail(self, text: str, exit_code: int, seconds: float, *, shown: bool = False) -> None:
        """Tells the others that this process has failed, and ends it; blocks for at most `seconds` and 10 more.

        Does nothing once the scripts of all have ended.

        Args:
            text: what happened, as the rest of a sentence that begins with the name of this task.
            exit_code: the exit code of this process.
            seconds: how long to wait first for news of a failure that caused this one, to report that one instead.
            shown: whether this process has printed what happened.
        """
        if self._all_ended.is_set():
            return
        self.join(seconds)
        self._exit_code, self._is_shown = exit_code, shown
        self._me.failure = text
        self._fails.set()
        self.join(_EXIT_SECONDS)
        self._exit(exit_code)

    def _receive(self, process: int, messages: list[dict[str, Any]] | None) -> None:
        peer, now = self._peers[process], self._clock()
        if messages is None:
            peer.lost = not self._all_ended.is_set()
            self._lines.pop(process).close()
            return
        peer.heard = now
        for message in messages:
            if (verdict := Verdict.read(message.get("verdict"))) is not None:
                self._report(verdict)
            if message.get("all_ended"):
                self._all_ended.set()
            if isinstance(message.get("beat"), list):
                peer.take(message["beat"], bool(message.get("ended")), now)
                peer.failure = str(message.get("failure", ""))

    def _send_news(self, all_ended: bool) -> None:
        now = self._clock()
        news = all_ended, [(peer.said.ended, peer.failure) for peer in self._peers.values()]
        if now < self._next_beat and news == self._told:
            return
        self._next_beat, self._told = now + self._beat, news
        all_ended = all_ended and self._roster.process_id == 0
        beat = {"beat": self._own_beat(), "ended": self._ended, "failure": self._me.failure}
        self._send(beat | {"all_ended": all_ended})
        if all_ended:
            self._all_ended.set()

    def _send(self, message: Mapping[str, Any]) -> None:
        for line in self._lines.values():
            line.send(message)

    def _announce(self, verdict: Verdict) -> None:
        if self._roster.process_id == 0:
            self._send({"verdict": dataclasses.asdict(verdict)})
            for line in self._lines.values():
                line.finish()
        elif self._me.failure and not self._peers[0].lost:
            # Process 0 hears of the failure, decides, and tells all, including this process.
            return
        self._report(verdict)

    def _report(self, verdict: Verdict) -> None:
        """Prints the verdict, and ends this process."""
        if self._over.is_set():
            return
        if verdict.failed:
            # What is wrong with one script is often wrong with all: leave this one time to fail by itself.
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
        error_file.note_cause(f"{verdict.text}\n{ends}")
        said = [] if self._is_shown else verdict.text.split("\n")
        report.write([*said, ends], stacks=stacks)
        self._over.set()
        self._say_goodbye()
        self._exit(code)

    def _say_goodbye(self) -> None:
        """Lets the others read what was sent: closing a connection that has unread data may discard it."""
        if self._roster.process_id != 0:
            return
        patience = time.monotonic() + _GOODBYE_SECONDS
        while self._lines and time.monotonic() < patience:
            for line in readable(self._lines.values(), patience - time.monotonic()):
                if line.receive() is None:
                    self._lines = {i: one for i, one in self._lines.items() if one is not line}


class _Peer:
    """What is known of one process."""

    def __init__(self, name: str, now: float) -> None:
        self.said = TaskState(name)  # in its last beat
        self.orders: Sequence[tuple[int, int]] = ()
        self.moved = self.settled = self.heard = now
        self.lost = False
        self.failure = ""

    def take(self, beat: list[Any], ended: bool, now: float) -> None:
        match beat:
            case [[[int(steps), _], *_] as orders, doing, waits, call, waits_for, where] if all(
                map(_is_order, orders)
            ):
                call = "" if ended else str(call)
                if steps != self.said.steps:
                    self.moved = now
                if (call, ended) != (self.said.call, self.said.ended):
                    self.settled = now
                self.said = TaskState(
                    self.said.name,
                    steps,
                    doing=str(doing),
                    waits=bool(waits),
                    call=call,
                    waits_for=waits_for if isinstance(waits_for, int) else None,
                    script_position=str(where),
                    ended=ended,
                )
                self.orders, self.heard = orders, now
            case _:
                pass

    def state(self, now: float, compared: Progress | None) -> TaskState:
        return dataclasses.replace(
            self.said,
            idle_seconds=now - self.moved,
            silent_seconds=now - self.heard,
            settled_seconds=self.heard - self.settled,
            diverged=compared is not None and not compared.agrees(self.orders),
            lost=self.lost,
            failure=self.failure,
        )


def _is_order(said: object) -> bool:
    match said:
        case [int(), int()]:
            return True
        case _:
            return False


def delay_aborts() -> None:
    """Delays the end of the process by six seconds when it calls `abort`.

    When process 0 dies, JAX's client aborts the others at once, from a C++ thread, and no option prevents it. In the six
    seconds the watchdog reports who died, and exits with its own code. The signal handler is C's `sleep`, called with the
    signal's number, 6: it runs no Python, is async-signal-safe, and returns to the abort.
    """
    library = ctypes.CDLL(None)
    library.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
    library.signal.restype = ctypes.c_void_p
    library.signal(signal.SIGABRT, ctypes.cast(library.sleep, ctypes.c_void_p))
