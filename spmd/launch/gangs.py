"""The gangs of a job, and what the end of one means for the others.

In synchronous training there is one gang that trains. With parameter servers the chief trains: it is a gang of its own, and
so is each *server*, a worker or parameter server that serves until the chief has ended. An evaluator reads checkpoints,
during the training and for a while after it.
"""

import dataclasses
import signal
import time
from collections.abc import Sequence

from spmd.launch.gang import Gang
from spmd.launch.output import Printer
from spmd.launch.tasks import names_of


@dataclasses.dataclass(eq=False)
class Gangs:
    """The gangs of a job; does nothing by itself: `poll` advances them.

    Attributes:
        training: what trains; the job is over when it is.
        servers: those of workers and parameter servers.
        evaluator: that of the evaluator, if there is one.
        evaluator_seconds: how long the evaluator may run after the training.
        printer: shows what happens.
    """

    training: Gang
    servers: Sequence[Gang]
    evaluator: Gang | None
    evaluator_seconds: float
    printer: Printer
    _servers_stopped: bool = dataclasses.field(default=False, init=False)
    _evaluator_deadline: float = dataclasses.field(default=float("inf"), init=False)
    _interrupted: bool = dataclasses.field(default=False, init=False)

    @property
    def all(self) -> list[Gang]:
        """All gangs, in the order of their tasks."""
        return [self.training, *self.servers, *([self.evaluator] if self.evaluator else [])]

    @property
    def ended(self) -> bool:
        """Whether nothing runs or will start again."""
        return all(gang.ended for gang in self.all)

    @property
    def deadline(self) -> float:
        """When to call `poll` at the latest, by `time.monotonic`."""
        return min(self._evaluator_deadline, *(gang.deadline for gang in self.all))

    @property
    def status(self) -> int:
        """The exit status of the job: 0 if the training and the evaluator succeeded, else that of who failed first."""
        # A server that was lost for good does not matter unless the training was stopped because of it.
        servers = self.servers if self.training.was_stopped else []
        counted = [self.training, *servers, *([self.evaluator] if self.evaluator else [])]
        return next(filter(None, (gang.status for gang in counted)), 0)

    def begin(self) -> None:
        """Starts all tasks."""
        for gang in self.all:
            gang.begin()

    def poll(self) -> None:
        """Sees what has happened since the last poll, and acts on it."""
        for gang in self.all:
            gang.poll()
        if self.training.ended:
            self._stop_servers()
            self._see_to_evaluator()
        elif not self.training.is_last_attempt and (lost := self._lost_servers()):
            self.training.stop(signal.SIGTERM, f"{lost} will not come back", forgive=True)

    def forward(self, number: int) -> None:
        """Passes a signal on to whoever trains or evaluates; the second one kills all."""
        name = signal.Signals(number).name
        if self._interrupted:
            self.printer.say(f"{name} again: SIGKILL to all")
            self.kill()
            return
        self._interrupted = True
        # Scripts save their work on SIGTERM, not when a terminal hangs up.
        forwarded = signal.SIGTERM if number == signal.SIGHUP else number
        for gang in self.all:
            if gang.serves:  # the chief may have to save what servers hold
                gang.allow_no_further_attempt()
            else:
                gang.stop(forwarded, f"{name} (once more to kill at once)")

    def kill(self) -> None:
        """Kills what runs, now; nothing starts again."""
        for gang in self.all:
            gang.kill()

    def _lost_servers(self) -> str:
        """Names servers that are lost for good and without which the training cannot go on, if there are some."""
        tasks = [task for gang in self.servers if gang.ended for task in gang.tasks]
        needed = [task for task in tasks if task.task_type == "ps"]
        workers = [
            task for gang in self.servers for task in gang.tasks if task.task_type == "worker"
        ]
        if workers and all(worker in tasks for worker in workers):
            needed += workers
        return names_of(needed)

    def _stop_servers(self) -> None:
        running = [gang for gang in self.servers if not gang.ended]
        if not running or self._servers_stopped:
            return
        self._servers_stopped = True
        names = names_of(task for gang in running for task in gang.tasks)
        self.printer.say(f"the chief has ended: SIGTERM to {names}")
        for gang in running:
            gang.stop(signal.SIGTERM, forgive=True)

    def _see_to_evaluator(self) -> None:
        """Gives the evaluator some time after a training that succeeded, and none after one that failed."""
        evaluator = self.evaluator
        if evaluator is None or evaluator.is_last_attempt:
            return
        if self.training.failed or self.training.was_stopped:
            evaluator.stop(signal.SIGTERM, "the training failed", forgive=True)
        elif self._evaluator_deadline == float("inf"):
            self._evaluator_deadline = time.monotonic() + self.evaluator_seconds
            left = f"{self.evaluator_seconds:g} s to end by itself"
            self.printer.say(f"the training is over; the evaluator has {left}")
        elif time.monotonic() >= self._evaluator_deadline:
            self._evaluator_deadline = float("inf")
            evaluator.stop(signal.SIGTERM, "the evaluator's time is over", forgive=True)
