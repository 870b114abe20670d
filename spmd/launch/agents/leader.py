"""What the leader decides: when an attempt starts, with which agents, when it ends, and when the job is over.

Each agent that is *ready* can run one worker. An attempt starts with all that are ready once there are as many as there may
be, or enough of them and no agent has come or gone for a while: the job has *settled*. It ends when a worker fails, an agent is
lost, or another agent can take part. The leader does nothing by itself: `poll` advances it.
"""

import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spmd.cluster import RETRYABLE_EXIT_CODE, Task, join_address
from spmd.launch.agents.start import Start
from spmd.launch.exit_status import consequence_rank, describe_end, exit_status
from spmd.launch.restart_policy import Failure, RestartPolicy
from spmd.launch.summary import Row
from spmd.launch.tasks import Roles

_LAST_SIGNAL, _LAST_CODE = 64, 255
_AGAIN = 10.0  # seconds after which the same line is shown again


@dataclasses.dataclass(frozen=True)
class Patience:
    """How long a job waits for agents.

    Attributes:
        settle_seconds: how long no agent may have come or gone before an attempt starts with fewer than there may be.
        join_seconds: how long it waits for enough agents, and an agent for the leader.
        max_interruptions: how often it starts again because agents are lost, or come.
    """

    settle_seconds: float
    join_seconds: float
    max_interruptions: int


def port_in(message: Mapping[str, Any]) -> int | None:
    """Returns the port in what an agent says, if it is one."""
    port = message.get("port")
    return port if isinstance(port, int) and 0 < port < 1 << 16 else None


class _Phase(enum.Enum):
    GATHERING = enum.auto()  # until enough agents are ready
    RUNNING = enum.auto()
    STOPPING = enum.auto()  # all were asked to end; some still run
    OVER = enum.auto()


class _Why(enum.Enum):
    """Why an attempt ends."""

    FAILED = enum.auto()
    LOST = enum.auto()
    CAME = enum.auto()
    INTERRUPTED = enum.auto()  # Ctrl-C


@dataclasses.dataclass(eq=False)
class Member:
    """An agent that the leader knows.

    Attributes:
        name: its host, for people.
        host: the address by which other agents reach it.
        send: sends it a message.
        leads: whether it is the leader's own.
        port: that its next worker will listen on; None while one runs.
        index: of its worker in the latest attempt; None if it has none.
        ended: how that worker ended; None while it runs.
        leaving: whether its machine is about to be taken away.
    """

    name: str
    host: str
    send: Callable[[Mapping[str, Any]], None]
    leads: bool = False
    port: int | None = None
    index: int | None = None
    ended: int | None = None
    leaving: bool = False


class Leader:
    """The agents of a job, and its attempts.

    Args:
        roles: how many workers there may be, and how many there must be.
        policy: decides about restarts after failures.
        patience: how long to wait for agents.
        say: shows a line.
        job: the name of the job.
        now: the time, in seconds.

    Attributes:
        status: the exit status of the job once it is over; None before.
        rows: what the table at the end has of each attempt that has ended.
    """

    def __init__(
        self,
        roles: Roles,
        policy: RestartPolicy,
        patience: Patience,
        say: Callable[[str], None],
        job: str,
        now: float,
    ) -> None:
        self.status: int | None = None
        self.rows: list[Row] = []
        self.members: list[Member] = []
        self._most = roles.workers
        self._least = roles.workers if roles.min_workers is None else roles.min_workers
        self._policy, self._patience, self._say, self._job = policy, patience, say, job
        self._phase = _Phase.GATHERING
        self._attempt = 0  # the next one, while gathering
        self._running: list[Member] = []
        self._why: tuple[_Why, Row] | None = None
        self._failures: list[Failure] = []
        self._former_restarts = self._interruptions = 0
        self._changed = self._since = now
        self._not_before = now
        self._told = now

    def join(self, member: Member, now: float, last: Start | None = None) -> None:
        """Takes an agent in.

        Args:
            member: the agent.
            now: the time, in seconds.
            last: the last start that it was told, if it has had another leader.
        """
        self.members.append(member)
        self._changed = now
        if self._phase is _Phase.OVER:
            member.send({"over": self.status, "why": "the job is over"})
            return
        if not self._running and last is not None:
            self._attempt, self._job = max(self._attempt, last.attempt + 1), last.job
            self._former_restarts = max(self._former_restarts, last.restarts)
            self._interruptions = max(self._interruptions, last.interruptions)
        self._say(f"{member.name} has come, at {member.host}: {self._count()}")

    def leave(self, member: Member, why: str, now: float) -> None:
        """Does without an agent whose connection is lost."""
        if member not in self.members:
            return
        self.members.remove(member)
        self._changed = now
        runs = member in self._running and member.ended is None
        if self._phase in (_Phase.RUNNING, _Phase.STOPPING) and runs:
            self._end(_Why.LOST, member, "agent lost", RETRYABLE_EXIT_CODE)
            member.ended = RETRYABLE_EXIT_CODE
        elif self._phase is _Phase.OVER:
            return
        self._say(f"{member.name} {why}: {self._count()}")

    def hear(self, member: Member, message: Mapping[str, Any], now: float) -> None:
        """Takes note of what an agent says; the wire has seen to it that it is an agent of this job."""
        if (port := port_in(message)) is not None:
            member.port = port
        if message.get("leaving"):
            member.leaving = True
            if message.get("interrupt") and member.leads:
                self._interrupt(member)
        code = message.get("ended")
        if not isinstance(code, int) or member not in self._running or member.ended is not None:
            return
        code = code if -_LAST_SIGNAL <= code <= _LAST_CODE else _LAST_CODE
        member.ended = code
        if code or member.leaving:  # a script may save on SIGTERM, and end with 0
            lines = message.get("last_lines")
            texts = tuple(map(str, lines)) if isinstance(lines, list) else ()
            seconds = message.get("seconds")
            self._end(
                _Why.LOST if member.leaving else _Why.FAILED,
                *(member, describe_end(code), code),
                *(float(seconds) if isinstance(seconds, (int, float)) else 0.0, texts),
            )

    def poll(self, now: float) -> None:
        """Sees whether an attempt can start or has ended, or the job is over."""
        if self._phase is _Phase.GATHERING:
            self._gather(now)
        elif self._phase is _Phase.RUNNING and self._can_grow(now):
            self._say(f"starts again with {min(self._most, len(self.members))} workers")
            self._stop((_Why.CAME, self._row("", "stopped to take workers in")))
        is_running = self._phase in (_Phase.RUNNING, _Phase.STOPPING)
        if is_running and all(member.ended is not None for member in self._running):
            self._finish(now)

    def _gather(self, now: float) -> None:
        ready = self._ready()
        enough = len(ready) >= (self._least if self._has_settled(now) else self._most)
        if enough and now >= self._not_before:
            self._start(ready[: self._most])
        elif len(ready) < self._least and now - self._since > self._patience.join_seconds:
            self._over(
                RETRYABLE_EXIT_CODE,
                f"waited {self._patience.join_seconds:g} s for {self._least} agents, but only {len(ready)} came. Start the others "
                "with the same --rendezvous, or wait longer with --join-seconds",
            )
        elif now - self._told >= _AGAIN:
            self._told = now
            self._say(f"waits for agents: {self._count()}")

    @property
    def _restarts(self) -> int:
        return self._former_restarts + len(self._failures)

    def _ready(self) -> list[Member]:
        """Lists the agents that can run a worker, and run none."""
        return [member for member in self.members if member.port and not member.leaving]

    def _has_settled(self, now: float) -> bool:
        return now - self._changed >= self._patience.settle_seconds

    def _start(self, members: Sequence[Member]) -> None:
        # The leader's own first: its worker then is process 0, to which all connect.
        self._running = sorted(members, key=lambda member: not member.leads)
        tasks = Roles(len(self._running)).cluster
        addresses = [join_address(member.host, member.port or 0) for member in self._running]
        for task, member in zip(tasks, self._running, strict=True):
            member.index, member.port, member.ended = task.task_index, None, None
            counts = self._restarts, self._interruptions
            start = Start(self._attempt, task.task_index, addresses, self._job, *counts)
            member.send(start.message())
        self._phase, self._why = _Phase.RUNNING, None
        places = ", ".join(
            f"{task} on {member.name}" for task, member in zip(tasks, self._running, strict=True)
        )
        self._say(
            f"attempt {self._attempt} starts with {len(tasks)} of {self._most} workers: {places}"
        )

    def _can_grow(self, now: float) -> bool:
        if len(self._running) >= self._most or any(one.ended is not None for one in self._running):
            return False
        ready = len(self._ready())
        return ready > 0 and (self._has_settled(now) or len(self._running) + ready >= self._most)

    def _end(
        self,
        why: _Why,
        member: Member,
        how: str,
        code: int,
        seconds: float = 0.0,
        last_lines: tuple[str, ...] = (),
    ) -> None:
        """Ends the attempt because of what happened to an agent's worker, unless it ends already for a better reason."""
        task = f"{Task('worker', member.index or 0)} on {member.name}"
        row = self._row(task, how, code, seconds, last_lines)
        if self._why is None:
            self._say(f"{task}: {how}; all others are asked to end")
            self._stop((why, row))
            return
        # Tasks that miss another one ask for a restart, and may be heard of before it is.
        former, told = self._why
        is_cause = why is _Why.LOST or consequence_rank(code) < consequence_rank(told.code)
        if former is _Why.FAILED and consequence_rank(told.code) == 2 and is_cause:
            self._why = why, row

    def _row(
        self,
        task: str,
        how: str,
        code: int = 0,
        seconds: float = 0.0,
        last_lines: tuple[str, ...] = (),
    ) -> Row:
        return Row(self._attempt, str(len(self._running)), task, how, code, seconds, last_lines)

    def _stop(self, why: tuple[_Why, Row]) -> None:
        self._phase, self._why = _Phase.STOPPING, why
        for member in self._running:
            if member.ended is None:
                member.send({"stop": True})

    def _interrupt(self, member: Member) -> None:
        if self._phase is _Phase.GATHERING:
            self._over(130, f"the job was ended on {member.name}")
        elif self._phase in (_Phase.RUNNING, _Phase.STOPPING):
            self._stop((_Why.INTERRUPTED, self._row("", "stopped")))

    def _finish(self, now: float) -> None:
        """Ends the attempt once all its workers have, and decides what comes next."""
        if self._why is None or not any(member.ended for member in self._running):
            self.rows.append(self._row("", "ended well"))
            self._over(0, "")
            return
        why, row = self._why
        self.rows.append(row)
        self._attempt += 1
        self._phase, self._since, self._not_before, self._told = _Phase.GATHERING, now, now, now
        if why is _Why.INTERRUPTED:
            own = next((one.ended for one in self._running if one.leads), None)
            self._over(exit_status(own or RETRYABLE_EXIT_CODE), "the job was ended")
        elif why is _Why.FAILED:
            failure = Failure(row.attempt, row.task, row.code, row.seconds, row.last_lines)
            self._failures.append(failure)
            decision = self._policy.decide(self._failures, self._former_restarts)
            if isinstance(decision, str):
                self._over(exit_status(row.code), f"no restart: {decision}")
                return
            self._not_before = now + decision
            count = f"restart {self._restarts} of {self._policy.max_restarts}"
            self._say(
                f"{count} in {decision:g} s: from the last checkpoint if the script restores it"
            )
        else:
            self._interruptions += 1
            if self._interruptions > self._patience.max_interruptions:
                most = self._patience.max_interruptions
                # Not the code that asks for a restart: Kubernetes would start the agents again, and not count it.
                self._over(
                    1,
                    f"no restart: agents were lost, or came, {most} times already (--max-interruptions {most})",
                )

    def _over(self, status: int, why: str) -> None:
        self._phase, self.status = _Phase.OVER, status
        if why:
            self._say(why)
        for member in self.members:
            member.send({"over": status, "why": why})

    def _count(self) -> str:
        need = str(self._most) if self._least == self._most else f"{self._least} to {self._most}"
        return f"{len(self.members)} are there, {need} can train"
