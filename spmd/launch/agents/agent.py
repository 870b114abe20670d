"""Runs the worker of this machine whenever the leader says so, until the job is over."""

import os
import shlex
import signal
import socket
import sys
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from spmd.cluster import (
    RESTART_VARIABLE,
    RETRYABLE_EXIT_CODE,
    TOKEN_PATH_VARIABLE,
    Line,
    Task,
    connect,
    join_address,
    plain,
    read_token,
    readable,
    split_address,
)
from spmd.errors import ClusterStartError, LaunchError
from spmd.launch.agents.endpoint import listen_if_own
from spmd.launch.agents.handshake import greet
from spmd.launch.agents.leader import Leader, Patience
from spmd.launch.agents.leading import BEAT_SECONDS, SILENCE_SECONDS, Leading
from spmd.launch.agents.start import Start
from spmd.launch.devices import devices_of_tasks
from spmd.launch.exit_status import describe_end
from spmd.launch.guard import Guard
from spmd.launch.job import JOB_VARIABLE
from spmd.launch.output import Printer
from spmd.launch.process import OUTPUT_SECONDS, SIGKILL_SECONDS, Process
from spmd.launch.restart_policy import RestartPolicy
from spmd.launch.signals import stop_signals
from spmd.launch.summary import show_attempts, show_remedy
from spmd.launch.tasks import Roles
from spmd.launch.write_tf_config import lasting_addresses, write_tf_config

_POLL_SECONDS = 0.5
_CONNECT_SECONDS = 3.0
_LAST_STATUS = 255


class Rendezvous(NamedTuple):
    """Where the agents of a job meet, and how long they wait.

    Attributes:
        endpoint: `host:port`; the agent on that host leads.
        patience: how long agents and the leader wait.
    """

    endpoint: str
    patience: Patience


def run_agent(
    words: Sequence[str],
    roles: Roles,
    environment: Mapping[str, str],
    devices_per_worker: int | None,
    policy: RestartPolicy,
    rendezvous: Rendezvous,
) -> int:
    """Runs a worker of an elastic job on this machine, and leads the job if the endpoint is here; blocks until it is over.

    Every machine of the job runs this. For the main thread.

    Args:
        words: what comes after `python`: a script, or `-m` and a module, and arguments.
        roles: how many workers there may be, one on each machine, and how many there must be.
        environment: environment variables of the worker.
        devices_per_worker: its devices; None for all GPUs, or one CPU device.
        policy: when to restart, and how long to wait for tasks to end.
        rendezvous: where agents meet.

    Returns:
        0 if the job has succeeded, 143 if this agent has left it, otherwise the status of the worker that failed first.

    Raises:
        LaunchError: this machine lacks the devices, or there is no secret, or another one than the leader's.
    """
    own = devices_of_tasks(Roles(1), devices_per_worker, environment)[Task("worker", 0)]
    try:
        token = read_token(environment, "Write one: (umask 077; openssl rand -hex 32 > FILE).")
    except ClusterStartError as error:
        raise LaunchError(str(error)) from error
    if not token:
        raise LaunchError(
            f"Expected a secret, since agents listen for each other, but {TOKEN_PATH_VARIABLE} is not set. Make one, copy it to "
            f"every machine, and say where it is: (umask 077; openssl rand -hex 32 > ~/token); export {TOKEN_PATH_VARIABLE}=~/token."
        )
    printer = Printer(sys.stdout, sys.stderr)
    agent = _Agent(words, roles, {**environment, **own}, policy, rendezvous, token, printer)
    try:
        return agent.run()
    finally:
        printer.close(5)


class _Agent:
    """The agent: its connection to the leader, and the worker that runs."""

    def __init__(
        self,
        words: Sequence[str],
        roles: Roles,
        environment: Mapping[str, str],
        policy: RestartPolicy,
        rendezvous: Rendezvous,
        token: bytes,
        printer: Printer,
    ) -> None:
        self._command, self._roles, self._environment = [sys.executable, *words], roles, environment
        self._policy, self._rendezvous, self._token = policy, rendezvous, token
        self._printer = printer
        self._line: Line | None = None
        self._heard = self._beat = 0.0
        self._leading: tuple[Leading, Leader] | None = None
        self._alone_since = time.monotonic()  # without a leader
        self._try_at, self._told = 0.0, ""
        self._process: Process | None = None
        self._guard: Guard | None = None
        self._kill_at = float("inf")
        self._last: Start | None = None
        self._leaving = 0  # the signal that this agent got
        self._status: int | None = None

    def run(self) -> int:
        """Runs until the job is over, or this agent has left it; returns the exit status."""
        began = time.monotonic()
        with stop_signals() as wait:
            try:
                while self._status is None:
                    sources = [] if self._line is None else [self._line]
                    for number in wait(_POLL_SECONDS, *sources):
                        self._forward(number)
                    self._see_to_process()
                    self._see_to_leader()
            finally:
                if self._process is not None:
                    self._process.send(signal.SIGKILL)
                if self._guard is not None:
                    self._guard.close()
                if self._line is not None:
                    self._line.close()
        if self._leading is not None:
            thread, leader = self._leading
            thread.close()
            show_attempts(leader.rows, self._printer)
            show_remedy(leader.rows, self._command[1:], self._printer)
        seconds = time.monotonic() - began
        end = "ended well" if self._status == 0 else f"ended with exit status {self._status}"
        self._printer.say(f"the agent of {socket.gethostname()} {end} ({seconds:.1f} s)")
        return self._status

    def _forward(self, number: int) -> None:
        """Passes a signal on to the worker, and leaves the job after it; a second one kills it."""
        name = signal.Signals(number).name
        if self._leaving:
            self._printer.say(f"{name} again: SIGKILL")
            self._kill_at = 0.0
            if self._process is None:
                self._status = RETRYABLE_EXIT_CODE
            return
        self._leaving = number
        if self._line is not None:
            self._line.send({"leaving": True, "interrupt": number == signal.SIGINT})
        if self._process is None:
            if not self._ends_job:
                self._status = RETRYABLE_EXIT_CODE
            return
        # Scripts save their work on SIGTERM, not when a terminal hangs up.
        forwarded = signal.SIGTERM if number == signal.SIGHUP else number
        self._printer.say(f"{name} (once more to kill at once): {self._ask_to_end(forwarded)}")

    @property
    def _ends_job(self) -> bool:
        """Whether Ctrl-C has reached the agent that leads: it waits until the job is over."""
        is_connected = self._leading is not None and self._line is not None
        return is_connected and self._leaving == signal.SIGINT

    def _ask_to_end(self, number: int = signal.SIGTERM) -> str:
        assert self._process is not None
        self._process.send(number)
        self._kill_at = min(self._kill_at, time.monotonic() + self._policy.grace_seconds)
        grace = f"SIGKILL in {self._policy.grace_seconds:g} s"
        return f"{signal.Signals(number).name} to {self._process.task}; {grace}"

    def _see_to_process(self) -> None:
        """Reports the end of the worker, and kills it past its deadline."""
        if self._process is None:
            return
        if not self._process.has_ended():
            if time.monotonic() >= self._kill_at:
                self._kill_overdue(self._process)
            return
        process, self._process, self._kill_at = self._process, None, float("inf")
        process.drain(OUTPUT_SECONDS)
        if self._guard is not None:
            self._guard.close()
            self._guard = None
        code = process.returncode or 0
        self._printer.say(
            f"{process.task} ended with {describe_end(code)} after {process.seconds:.1f} s"
        )
        self._tell_end(code, process.seconds, process.last_lines.lines)
        if self._leaving and not self._ends_job:
            # However the worker took the signal: 0 would say that the job is over, and Kubernetes start this agent no more.
            self._status = RETRYABLE_EXIT_CODE

    def _tell_end(self, code: int, seconds: float, last_lines: Iterable[str] = ()) -> None:
        if self._line is not None:
            ended = {"ended": code, "seconds": seconds, "port": _free_port()}
            self._line.send({**ended, "last_lines": list(last_lines)})

    def _kill_overdue(self, process: Process) -> None:
        """Kills a worker past its deadline; leaves the job if it survives that, so that the others do not wait for it."""
        if signal.SIGKILL not in process.signals:
            process.send(signal.SIGKILL)
            self._kill_at = time.monotonic() + SIGKILL_SECONDS
            return
        self._printer.say(
            f"SIGKILL did not end {process.task} (process {process.number}): abandoned"
        )
        self._status = RETRYABLE_EXIT_CODE

    def _see_to_leader(self) -> None:
        """Hears the leader, or looks for one."""
        now = time.monotonic()
        if self._line is None:
            if self._process is None and self._status is None:
                self._look_for_leader(now)
            return
        if readable([self._line], 0.0):
            messages = self._line.receive()
            if messages is None:
                self._lose_leader("its connection closed")
                return
            self._heard = now
            for message in messages:
                self._obey(message)
        if now - self._heard > SILENCE_SECONDS:
            self._lose_leader(f"it has been silent for {SILENCE_SECONDS:g} s")
        elif now - self._beat >= BEAT_SECONDS:
            self._beat = now
            self._line.send({"here": True})

    def _obey(self, message: Mapping[str, Any]) -> None:
        over = message.get("over")
        if isinstance(over, int) and 0 <= over <= _LAST_STATUS:
            self._status = int(over)
            if why := message.get("why"):
                self._printer.say(plain(why, 1000))
        elif "stop" in message and self._process is not None and not self._leaving:
            self._printer.say(f"the leader ends this attempt: {self._ask_to_end()}")
        elif (start := Start.read(message)) is not None and self._process is None:
            if self._leaving:  # which the leader had not heard yet
                self._tell_end(RETRYABLE_EXIT_CODE, 0.0)
                return
            self._start(start)

    def _start(self, start: Start) -> None:
        task = Task("worker", start.task)
        self._last = start
        own = {
            **{"PYTHONUNBUFFERED": "1", **self._environment},
            **{RESTART_VARIABLE: str(start.attempt), JOB_VARIABLE: start.job},
            "TF_CONFIG": write_tf_config({task.task_type: start.addresses}, task),
        }
        self._guard = Guard()
        self._process = Process(task, self._command, own, self._printer, self._guard)
        self._printer.say(
            f"started {task} of {len(start.addresses)}, attempt {start.attempt} (process {self._process.number})"
        )

    def _lose_leader(self, why: str) -> None:
        assert self._line is not None
        self._line.close()
        self._line, self._alone_since = None, time.monotonic()
        text = f"the leader at {self._rendezvous.endpoint} is lost: {why}"
        if self._process is not None:
            text += f"; {self._ask_to_end()}"
        self._printer.say(text)

    def _look_for_leader(self, now: float) -> None:
        """Leads if the endpoint is here and nobody does, and connects to who leads."""
        if now < self._try_at:
            return
        self._try_at = now + _POLL_SECONDS
        host, port = split_address(self._rendezvous.endpoint)
        if listener := listen_if_own(host, port):
            self._lead(listener)
        try:
            line, messages = self._connect(host, port)
        except OSError as error:
            reason = error.strerror or str(error) or type(error).__name__
            self._wait_on(now, reason)
            return
        self._line, self._heard, self._told = line, time.monotonic(), ""
        for message in messages:
            self._obey(message)

    def _lead(self, listener: socket.socket) -> None:
        self._printer.say(f"leads at {self._rendezvous.endpoint}")
        say = self._printer.say
        leader = Leader(
            *(self._roles, self._policy, self._rendezvous.patience, say),
            *(self._last.job if self._last else uuid.uuid4().hex, time.monotonic()),
        )
        self._leading = Leading(listener, self._token, leader, say), leader

    def _connect(self, host: str, port: int) -> tuple[Line, list[dict[str, Any]]]:
        """Connects to the leader; returns the line, and what the leader has said already."""
        line = connect(host, port, _CONNECT_SECONDS)
        claim = {
            **{"name": socket.gethostname(), "pid": os.getpid(), "port": _free_port()},
            **{"leads": self._leading is not None},
            **({} if self._last is None else self._last.message()),
            "command": shlex.join(self._command[1:]),
        }
        try:
            messages = greet(line, self._token, claim)
        except BaseException:
            line.close()
            raise
        self._printer.say(f"has joined the leader at {join_address(line.peer_address(), port)}")
        return line, messages

    def _wait_on(self, now: float, reason: str) -> None:
        patience = self._rendezvous.patience.join_seconds
        if now - self._alone_since > patience:
            self._printer.say(
                f"found no leader at {self._rendezvous.endpoint} for {patience:g} s ({reason}) and gives up. Start the agent on that "
                "host, or wait longer with --join-seconds"
            )
            self._status = RETRYABLE_EXIT_CODE
        elif reason != self._told:
            self._told = reason
            self._printer.say(f"waits for the leader at {self._rendezvous.endpoint} ({reason})")


def _free_port() -> int:
    return split_address(lasting_addresses(1)[0])[1]
