"""Tasks that start, fail and start again together.

The tasks that train synchronously are one *gang*: none can continue without the others. An evaluator is a gang of its own,
and so is each task of a job with parameter servers. An *attempt* is one start of all tasks of a gang. Where their number may
change, an attempt may have fewer workers than the one before. A gang does nothing by itself: `poll` advances it.
"""

import dataclasses
import enum
import signal
import time
from collections.abc import Callable, Sequence

from spmd.cluster import Task
from spmd.launch.elastic import Elastic, was_lost
from spmd.launch.exit_status import consequence_rank, describe_end, exit_status
from spmd.launch.guard import Guard
from spmd.launch.output import Printer
from spmd.launch.process import OUTPUT_SECONDS, SIGKILL_SECONDS, Process
from spmd.launch.restart_policy import Failure, RestartPolicy
from spmd.launch.tasks import names_of

Start = Callable[[Sequence[Task], int, Guard], list[Process]]


class _Phase(enum.Enum):
    RUNNING = enum.auto()
    STOPPING = enum.auto()  # one has failed, or all were asked to stop; some still run
    WAITING = enum.auto()  # until the next attempt
    ENDED = enum.auto()


@dataclasses.dataclass(eq=False)
class Gang:
    """A gang and its attempts.

    Attributes:
        tasks: its tasks, in the latest attempt.
        start: starts tasks, given the number of the attempt and a guard.
        policy: decides about restarts, and how long tasks that are asked to end may take.
        printer: shows what happens.
        serves: whether its tasks go on until they are stopped, so that any other end is a failure.
        elastic: the workers of each attempt, if their number may change.
        failures: one for each attempt that failed.
        attempts: number of attempts begun.
        workers: how many each attempt had, if their number may change.
        deadline: when to call `poll` at the latest, by `time.monotonic`.
        was_stopped: whether the last attempt ended on request, before anything failed.
    """

    tasks: Sequence[Task]
    start: Start
    policy: RestartPolicy
    printer: Printer
    serves: bool = False
    elastic: Elastic | None = None
    failures: list[Failure] = dataclasses.field(default_factory=list[Failure], init=False)
    attempts: int = dataclasses.field(default=0, init=False)
    workers: list[int] = dataclasses.field(default_factory=list[int], init=False)
    deadline: float = dataclasses.field(default=float("inf"), init=False)
    was_stopped: bool = dataclasses.field(default=False, init=False)
    _last_attempt: bool = dataclasses.field(default=False, init=False)
    _phase: _Phase = dataclasses.field(default=_Phase.WAITING, init=False)
    _processes: Sequence[Process] = dataclasses.field(default=(), init=False)
    _first: Process | None = dataclasses.field(default=None, init=False)
    _forgiven: bool = dataclasses.field(default=False, init=False)
    _regrows: bool = dataclasses.field(default=False, init=False)
    _killed: bool = dataclasses.field(default=False, init=False)
    _guard: Guard | None = dataclasses.field(default=None, init=False)

    @property
    def name(self) -> str:
        """Its tasks, by name."""
        return names_of(self.tasks)

    @property
    def ended(self) -> bool:
        """Whether nothing runs or will start again."""
        return self._phase is _Phase.ENDED

    @property
    def failed(self) -> bool:
        """Whether the latest attempt failed."""
        return bool(self.failures) and self.failures[-1].attempt == self.attempts - 1

    @property
    def is_last_attempt(self) -> bool:
        """Whether there will be no further attempt, even if this one fails."""
        return self._last_attempt or self.ended

    @property
    def status(self) -> int:
        """The exit status of the task that failed first in the latest attempt; 0 if none did."""
        # That of a server that ended well, but ended, is 0.
        return (exit_status(self.failures[-1].returncode) or 1) if self.failed else 0

    def begin(self) -> None:
        """Starts all tasks."""
        self._phase, self.deadline = _Phase.RUNNING, float("inf")
        self._first, self._killed, self._regrows = None, False, False
        if self.elastic is not None:
            self.tasks = self.elastic.tasks
            self.workers.append(len(self.elastic.slots))
            if self.elastic.regrow_seconds and not self.elastic.is_complete:
                self.deadline = time.monotonic() + self.elastic.regrow_seconds
        self._guard = Guard()
        self._processes = self.start(self.tasks, self.attempts, self._guard)
        self.attempts += 1
        started = (f"{process.task} (process {process.number})" for process in self._processes)
        self.printer.say(f"started {', '.join(started)}")

    def poll(self) -> None:
        """Sees what has happened since the last poll, and acts on it."""
        if self._phase is _Phase.WAITING and time.monotonic() >= self.deadline:
            self.begin()
        if self._phase in (_Phase.WAITING, _Phase.ENDED):
            return
        running = [process for process in self._processes if not process.has_ended()]
        if self._first is None and not (self._forgiven or self._regrows):
            self._find_failure(running)
        if not running:
            self._finish()
        elif time.monotonic() < self.deadline:
            return
        elif self._phase is not _Phase.RUNNING:
            self._kill_overdue(running)
        elif len(running) == len(self._processes):
            self._regrow(running)
        else:  # some are done already, so the others are about to be
            self.deadline = float("inf")

    def stop(self, signal_number: int, why: str = "", forgive: bool = False) -> None:
        """Asks the tasks to end, and says why; there will be no further attempt.

        Args:
            signal_number: the signal to send.
            why: the reason to show; nothing is shown if it is empty.
            forgive: whether to ignore that they fail.
        """
        self.was_stopped = self._phase is _Phase.RUNNING or self._regrows
        self.allow_no_further_attempt()
        self._forgiven = forgive
        running = [process for process in self._processes if not process.has_ended()]
        if not self.ended and running:
            text = self._ask_to_end(running, signal_number)
            if why:
                self.printer.say(f"{why}: {text}")

    def kill(self) -> None:
        """Kills what runs, now; there will be no further attempt."""
        self.allow_no_further_attempt()
        if not self.ended:
            self._kill(self._processes)

    def allow_no_further_attempt(self) -> None:
        """Leaves the tasks alone, but sees that they do not start again."""
        self._last_attempt, self._regrows = True, False
        if self._phase is _Phase.RUNNING:
            self.deadline = float("inf")  # until which it runs with fewer workers
        if self._phase is _Phase.WAITING:
            self._phase, self.deadline = _Phase.ENDED, float("inf")

    def _kill(self, processes: Sequence[Process]) -> None:
        for process in processes:
            process.send(signal.SIGKILL)
        self._killed, self.deadline = True, time.monotonic() + SIGKILL_SECONDS

    def _find_failure(self, running: Sequence[Process]) -> None:
        failed = [
            process
            for process in self._processes
            if process.returncode or (self.serves and process.returncode == 0)
        ]
        if not failed:
            return
        # Of several at once, the cause is one that was killed, or else one that failed by itself.
        self._first = min(failed, key=lambda process: consequence_rank(process.returncode or 0))
        how = describe_end(self._first.returncode or 0)
        text = f"{self._first.task} ended with {how} after {self._first.seconds:.1f} s"
        if running and self._phase is _Phase.RUNNING:
            text += f"; {self._ask_to_end(running, signal.SIGTERM)}"
        self.printer.say(text)

    def _regrow(self, running: Sequence[Process]) -> None:
        """Asks the tasks of an attempt with fewer workers to end, so that all of them start again."""
        assert self.elastic is not None  # else an attempt that runs has no deadline
        self._regrows = True
        most = self.elastic.roles.workers
        text = f"starts again with {most} workers, after {self.elastic.regrow_seconds:g} s with {self.workers[-1]}"
        self.printer.say(f"{text}: {self._ask_to_end(running, signal.SIGTERM)}")

    def _ask_to_end(self, running: Sequence[Process], signal_number: int) -> str:
        for process in running:
            process.send(signal_number)
        if self._phase is _Phase.RUNNING:
            self.deadline = float("inf")
        self._phase = _Phase.STOPPING
        self.deadline = min(self.deadline, time.monotonic() + self.policy.grace_seconds)
        names = names_of(process.task for process in running)
        number = signal.Signals(signal_number)
        return f"{number.name} to {names}; SIGKILL in {self.policy.grace_seconds:g} s"

    def _kill_overdue(self, running: Sequence[Process]) -> None:
        """Kills processes past the deadline; abandons those that survive SIGKILL."""
        names = names_of(process.task for process in running)
        if not self._killed:
            self.printer.say(f"{names} did not end within {self.policy.grace_seconds:g} s: SIGKILL")
            self._kill(running)
            return
        numbers = ", ".join(str(process.number) for process in running)
        self.printer.say(f"SIGKILL did not end {names} (process {numbers}): abandoned, no restart")
        self._last_attempt = True
        if self._regrows:  # without them it cannot go on
            self._first, self._regrows = running[0], False
        self._finish()

    def _finish(self) -> None:
        """Ends the attempt once all tasks have, and decides about the next one."""
        for process in self._processes:
            process.drain(OUTPUT_SECONDS)
        if self._guard is not None:
            self._guard.close()
            self._guard = None
        self._phase, self.deadline = _Phase.ENDED, float("inf")
        if (
            self.elastic is not None
            and self._regrows
            and any(one.returncode for one in self._processes)
        ):
            self.elastic.regrow()
            self.begin()
            return
        if self._first is None or self._forgiven:
            return
        first, code = self._first, self._first.returncode or 0
        failure = Failure(
            self.attempts - 1, str(first.task), code, first.seconds, tuple(first.last_lines.lines)
        )
        self.failures.append(failure)
        if self._last_attempt:
            return
        decision = self.policy.decide(self.failures)
        if isinstance(decision, str):
            self.printer.say(f"no restart of {self.name}: {decision}")
            return
        tasks = self.tasks
        if self.elastic is not None:
            lost = [one for one in self._processes if was_lost(one.returncode or 0, one.signals)]
            if loss := self.elastic.lose([process.task for process in lost]):
                self.printer.say(loss)
            tasks = self.elastic.tasks
        text = f"restart {len(self.failures)} of {self.policy.max_restarts} in {decision:g} s ({names_of(tasks)})"
        if not self.serves:
            text += ": from the last checkpoint if the script restores it, else from the beginning"
        self.printer.say(text)
        self._phase, self.deadline = _Phase.WAITING, time.monotonic() + decision
