"""Mutated messages to and from all that speak over a wire, of strangers and of those who have the secret."""

import contextlib
import io
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

from spmd.cluster import (
    Line,
    connect,
    join_address,
    listen,
    prove,
    readable,
    rendezvous,
    split_address,
    watchdog,
)
from spmd.cluster.progress import Progress
from spmd.cluster.rendezvous import meet
from spmd.cluster.roster import Roster
from spmd.cluster.verdict import Limits
from spmd.cluster.watchdog import Watchdog
from spmd.errors import ClusterStartError, LaunchError
from spmd.launch.agents import agent as agents
from spmd.launch.agents.handshake import greet
from spmd.launch.agents.leader import Leader, Patience
from spmd.launch.agents.leading import Leading
from spmd.launch.agents.start import Start
from spmd.launch.output import Printer
from spmd.launch.restart_policy import RestartPolicy
from spmd.launch.tasks import Roles
from tests.benchmarks.fuzz.mutations import mutated, mutated_bytes
from tests.ports import free_ports

_TOKEN = "secret"
_PROCESSES = 6
_SECONDS = 60.0
_BEAT = [[[3, 7], [2, 5], [1, 1], [0, 0]], "", False, "", None, "train.py:3"]
_NEWS = {"beat": _BEAT, "ended": False, "failure": "", "all_ended": False}
_VERDICT = {"verdict": {"text": "x", "retryable": True, "shows_stacks": False, "failed": False}}
_STARTED = Start(0, 0, ["a:1", "b:2"], "ab").message()
_END = {"ended": 1, "seconds": 3.0, "port": 20_000, "last_lines": ["why"]}


class Messages:
    """A meeting of tasks and a leader of agents, which last for all cases, and those on the other side, one for each."""

    def __init__(self, folder: Path) -> None:
        del folder
        self._stack = contextlib.ExitStack()
        patches = [
            mock.patch.dict("os.environ", {"RAY_AUTH_TOKEN": _TOKEN}),
            mock.patch.object(watchdog, "_GOODBYE_SECONDS", 0.0),
            mock.patch.object(watchdog, "_SAME_ERROR_SECONDS", 0.0),
        ]
        for patch in patches:
            self._stack.enter_context(patch)
        self._said: list[str] = []
        self._addresses = [f"127.0.0.1:{port}" for port in free_ports(_PROCESSES)]
        self._pool = self._stack.enter_context(ThreadPoolExecutor(_PROCESSES))
        self._first = self._meet(0)
        self._roles, self._policy = Roles(4), RestartPolicy(10**6, backoff_seconds=0.0)
        self._patience = Patience(0.0, 24 * 3600.0, 10**9)
        self._lead()
        printer = Printer(io.StringIO(), io.StringIO())
        self._stack.callback(printer.close, 5)
        self._agent = agents._Agent(
            *(("train.py",), self._roles, {}, self._policy),
            agents.Rendezvous("127.0.0.1:1", self._patience),
            *(_TOKEN.encode(), printer),
        )

    def attempt(self, chance: random.Random) -> str:
        """Has one conversation; returns what became of it."""
        talk: Callable[[random.Random], str] = chance.choice(
            [
                self._come_to_meeting,
                self._hear_process_0,
                self._watch,
                self._come_to_leader,
                self._greet,
                self._obey,
            ]
        )
        return talk(chance)

    def close(self) -> None:
        """Fails unless those that belong there are still let in."""
        try:
            others = [self._meet(process) for process in range(1, _PROCESSES)]
            assert sorted(self._first.result(_SECONDS).lines) == list(range(1, _PROCESSES))
            for one in (self._first, *others):
                for line in one.result(_SECONDS).lines.values():
                    line.close()
            if self._leader.status is not None:
                self._lead()
            with contextlib.closing(self._connect(self._door)) as line:
                greet(line, _TOKEN.encode(), {"name": "a", "port": 20_000})
            for text in self._said:
                assert text.isprintable(), ascii(text)
                assert len(text) < 3000, f"a line of {len(text)} characters"
        finally:
            self._leader.status = 0
            self._leading.close()
            self._stack.close()

    @staticmethod
    def _connect(address: str) -> Line:
        host, port = split_address(address)
        return connect(host, port, _SECONDS)

    def _lead(self) -> None:
        listener = listen("127.0.0.1", 0)
        self._door = join_address(*listener.getsockname()[:2])
        say = self._said.append
        self._leader = Leader(
            self._roles, self._policy, self._patience, say, "job", time.monotonic()
        )
        self._leading = Leading(listener, _TOKEN.encode(), self._leader, say)

    def _meet(self, process: int) -> Any:
        roster = Roster(self._addresses, process)
        return self._pool.submit(meet, roster, 24 * 3600.0, say=self._said.append)

    def _come_to_meeting(self, chance: random.Random) -> str:
        """Says hello to process 0, and proves to have the secret, or says something else."""
        process = chance.randrange(1, _PROCESSES)
        hello = {
            **{"process_id": process, "addresses": self._addresses, "host": "h", "pid": 1},
            **{"challenge": "c", "has_token": True},
        }
        hello = mutated(hello, chance) if chance.random() < 0.8 else hello
        with contextlib.closing(self._connect(self._addresses[0])) as line:
            _say(line, hello, chance)
            asked = _answer(line)
            challenge = asked.get("challenge")
            if not isinstance(hello, dict) or challenge is None:
                return "refused"
            claim = [hello.get("process_id"), hello.get("addresses")]
            proof = prove(_TOKEN.encode(), "guest", hello.get("challenge", ""), challenge, claim)
            _say(line, {"proof": proof}, chance)
            if chance.random() < 0.5:
                _say(line, mutated({"here": True}, chance), chance)
            if chance.random() < 0.1:
                return "accepted" if "refused" not in _answer(line) else "refused"
        assert not self._first.done(), self._first.exception()
        return "accepted"

    def _hear_process_0(self, chance: random.Random) -> str:
        """Is who answers to another process."""
        wait = rendezvous._Wait(Roster(self._addresses, 1), 5.0, self._said.append)
        wait.token = b"" if chance.random() < 0.8 else wait.token
        said = [{"waiting": [1, 2]}, {"refused": "x", "is_double": False}, {"gave_up": [2]}]
        said += [{"go": True}, {"challenge": "c", "proof": "p"}]
        with _pair() as (line, other):
            for _ in range(chance.choice((1, 2, 3))):
                _say(other, mutated(chance.choice(said), chance), chance)
            other.finish()
            try:
                rendezvous._hear(wait, line)
            except ClusterStartError as error:
                assert len(str(error)) < 5000  # noqa: PT017
                self._said += str(error).splitlines()
            except ConnectionError:
                pass
            else:
                return "accepted"
        return "refused"

    def _watch(self, chance: random.Random) -> str:
        """Beats into a watchdog: of process 0, or of another one."""
        me, exits = chance.randrange(2), list[int]()
        with _pair() as (line, other), contextlib.redirect_stderr(io.StringIO()):
            progress = Progress()
            progress.step_started(3)
            now = [0.0]
            watches = Watchdog(
                *(Roster(self._addresses[:2], me), {1 - me: line}, Limits(60, 30, 20)),
                **{"progress": progress, "exit_process": exits.append, "clock": lambda: now[0]},
            )
            for _ in range(chance.choice((1, 2, 3))):
                message = _NEWS if chance.random() < 0.7 or me == 0 else _VERDICT
                _say(other, mutated(message, chance), chance)
            for _ in range(3):
                watches.tick(0.0)
                now[0] += chance.choice((0.0, 1.0, 25.0, 70.0, 1000.0))
        assert set(exits) <= {1, 143}, exits
        return "refused" if exits else "accepted"

    def _come_to_leader(self, chance: random.Random) -> str:
        """Is an agent that says odd things, before or after it was let in."""
        claim = {"name": "h", "pid": 3, "port": 20_000, "leads": False, "command": "train.py"}
        claim = mutated({**claim, **_STARTED}, chance)
        if self._leader.status is not None:  # an agent may end the job
            self._leading.close()
            self._lead()
        with contextlib.closing(self._connect(self._door)) as line:
            own = chance.choice(("c", mutated({"a": "c"}, chance)))
            _say(line, {"challenge": own}, chance)
            theirs = _answer(line).get("challenge")
            if theirs is None:
                return "refused"
            proof = prove(_TOKEN.encode(), "agent", own, theirs, claim)
            _say(line, {"claim": claim, "proof": proof}, chance)
            if "welcome" not in _answer(line):
                return "refused"
            for _ in range(chance.choice((0, 1, 2))):
                _say(
                    line,
                    mutated(chance.choice([_END, {"leaving": True, "interrupt": False}]), chance),
                    chance,
                )
        assert self._leader.status is not None or self._leading._thread.is_alive(), (
            "the leader has ended"
        )
        return "accepted"

    def _greet(self, chance: random.Random) -> str:
        """Is a leader that an agent greets."""
        said = [{"challenge": "c", "proof": "p"}, {"welcome": True}, {"refused": True}]
        with _pair() as (line, other):
            for message in said:
                _say(other, mutated(message, chance), chance)
            other.finish()
            with contextlib.suppress(LaunchError, ConnectionError):
                greet(line, _TOKEN.encode(), {"name": "a"})
                return "accepted"
        return "refused"

    def _obey(self, chance: random.Random) -> str:
        """Is a leader that says odd things to an agent."""
        agent, started = self._agent, list[Any]()
        message = mutated(
            chance.choice([_STARTED, {"over": 0, "why": "x"}, {"stop": True}]), chance
        )
        if not isinstance(message, dict):
            return "refused"
        with mock.patch.object(agents, "Process") as process, mock.patch.object(agents, "Guard"):
            agent._obey(message)
            for call in process.call_args_list:
                started.append(call)
                environment: Mapping[str, str] = call.args[2]
                assert all(
                    isinstance(value, str) and "\0" not in value for value in environment.values()
                )
        agent._process = agent._guard = agent._status = None
        return "accepted" if started else "refused"


@contextlib.contextmanager
def _pair() -> Iterator[tuple[Line, Line]]:
    with listen("127.0.0.1", 0) as listener:
        host, port = listener.getsockname()[:2]
        one = connect(host, port, _SECONDS)
        two = Line(listener.accept()[0])
    with contextlib.closing(one), contextlib.closing(two):
        yield one, two


def _say(line: Line, message: Any, chance: random.Random) -> None:
    """Sends a message, whose text may be mutated once more."""
    with contextlib.suppress(OSError):
        text = json.dumps(message).encode()
        text = mutated_bytes(text, chance) if chance.random() < 0.1 else text
        line._socket.sendall(text + b"\n")


def _answer(line: Line) -> dict[str, Any]:
    while readable([line], 0.3):
        messages = line.receive()
        if messages is None:
            return {}
        for message in messages:
            if message:
                return message
    return {}
