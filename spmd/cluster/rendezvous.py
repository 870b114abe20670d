"""How processes find each other before anything else runs: all connect to process 0.

The others connect, say who they are and which addresses they know, and hear who is still missing. Once all are there,
process 0 stops listening, which leaves its port to `jax.distributed`, and says "go". The connections stay open for the
watchdog (`spmd.cluster.watchdog`).

`jax.distributed` can wait too, but aborts the process when it times out, without saying who is missing.
"""

import contextlib
import json
import math
import os
import socket
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from spmd.cluster.address import join_address, split_address
from spmd.cluster.job_token import (
    TOKEN_PATH_VARIABLE,
    is_proof,
    make_challenge,
    prove,
    read_token,
)
from spmd.cluster.roster import Roster
from spmd.cluster.strangers import ANSWER_SECONDS, Refusals, Strangers, plain
from spmd.cluster.wire import (
    MAX_BYTES,
    Line,
    connect,
    listen,
    readable,
)
from spmd.errors import ClusterStartError

_BEAT = 1.0  # seconds between two messages of a waiting process
_PATIENCE = 10.0  # process 0 may have to wait out a silence before it answers
_QUIET = 1.0  # a start that takes no longer prints nothing
_AGAIN = 10.0  # seconds after which the same line is printed again
_STARTED = "Check that each missing task was started and still runs: its own output says what it waits for."
_FIX = ' Give every task the same "cluster" in TF_CONFIG.'
# What follows it in a refusal is said here, and not to whom is refused.
_DETAILS = "\n"
_SEE = " The output of the first task shows its own list."
_SAME_TOKEN = f"Give every task the same {TOKEN_PATH_VARIABLE}, or a file with the same contents; or unset it in all of them."
_SOMEBODY = "somebody listens there"
_NOT_STARTING = f"{_SOMEBODY} who is not a starting task: an earlier run of this cluster that has not ended yet, or another program"


class Meeting(NamedTuple):
    """The result of a rendezvous.

    Attributes:
        lines: in process 0 a line to every other process, by process; in the others the line to process 0.
        coordinator: the address under which this process reaches the port of process 0.
        bind: the address on which process 0 is to listen there from now on.
    """

    lines: dict[int, Line]
    coordinator: str
    bind: str


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def meet(roster: Roster, timeout_seconds: float, *, say: Callable[[str], None] = _print) -> Meeting:
    """Waits until all processes of a cluster are there; blocks, and every process must call it.

    Args:
        roster: the processes, at least two, and which of them this is.
        timeout_seconds: how long to wait.
        say: prints a line.

    Raises:
        ClusterStartError: tasks are missing after the timeout, or disagree about the cluster.
    """
    wait = _Wait(roster, timeout_seconds, say)
    return _gather(wait) if roster.process_id == 0 else _join(wait)


class _Wait:
    """The deadline of a wait, who is missing, and what was printed about it."""

    def __init__(self, roster: Roster, seconds: float, say: Callable[[str], None]) -> None:
        self.roster, self.seconds, self.say = roster, seconds, say
        self.token = read_token(os.environ)
        self.deadline = time.monotonic() + seconds
        self._refusals = Refusals(say)
        self.departed: set[int] = set()  # processes that came and left again
        self._printed: tuple[float, str] = (time.monotonic() - _AGAIN + _QUIET, "")

    def left(self) -> float:
        return self.deadline - time.monotonic()

    def tell(self, text: str) -> None:
        """Prints what this process waits for, if that changed or was last printed a while ago."""
        at, before = self._printed
        now = time.monotonic()
        if now - at < (_BEAT if text != before and before else _AGAIN):
            return
        self._printed = (now, text)
        left = max(0, round(self.left()))
        self.say(f"jaxtribute: {self.roster.me} waits for {text}; {left} s left.")

    def refuse(self, problem: str, who: str = "somebody") -> None:
        """Says that a guest was sent away."""
        self._refusals.tell(problem, f"jaxtribute: {self.roster.me} sent {who} away.")

    def give_up(self, missing: Iterable[int], check: str) -> ClusterStartError:
        roster, missing = self.roster, sorted(missing)
        here = [name for i, name in enumerate(roster.names) if i not in missing]
        # Only process 0 knows who else is there.
        came = f" Of {len(roster.names)} tasks, {len(here)} came: {', '.join(here)}."
        more = [came] if 0 not in missing else []
        departed = [i for i in missing if i in self.departed]
        more += [f" {roster.names[i]} was there, but has ended." for i in departed]
        more += [f" Refused meanwhile: {text}" for text in self._refusals.problems]
        return ClusterStartError(
            f"{roster.me} waited {self.seconds - self.left():.0f} s for {roster.listed(missing)} and gives up."
            f"{''.join(more)} {check} To wait longer, set JAXTRIBUTE_START_TIMEOUT={max(1, round(2 * self.seconds))}.",
            missing=[roster.names[i] for i in missing],
            retryable=True,
        )


class _Guest:
    """A process that has connected to process 0: known once it has said who it is, admitted once `process` is set."""

    def __init__(self, line: Line, now: float) -> None:
        self.line, self.arrived, self.heard = line, now, now
        self.hello: dict[str, Any] = {}
        self.answer: object = None  # to the challenge
        self.challenge = ""
        self.is_known = False
        self.process = 0


def _gather(wait: _Wait) -> Meeting:
    """Waits for the others in process 0."""
    roster = wait.roster
    host, port = split_address(roster.addresses[0])
    # A cluster on this machine does not listen on the network.
    local = host if roster.is_local else None
    guests: list[_Guest] = []
    strangers = Strangers()
    with _listen(wait, local, port) as listener, contextlib.ExitStack() as on_failure:
        on_failure.callback(lambda: [guest.line.close() for guest in guests])
        beat, probe = time.monotonic(), on_failure.enter_context(_Probe(wait))
        while missing := sorted(set(range(1, len(roster.names))) - _admitted(guests).keys()):
            if wait.left() <= 0:
                for guest in _admitted(guests).values():
                    guest.line.send({"gave_up": missing})
                    guest.line.finish()
                raise wait.give_up(missing, _reachable(roster, listener, guests))
            wait.tell(roster.listed(missing))
            _receive(wait, listener, guests, strangers)
            _admit(wait, guests, strangers, probe)
            probe.check()
            if time.monotonic() >= beat:
                beat = time.monotonic() + _BEAT
                for guest in _admitted(guests).values():
                    guest.line.send({"waiting": missing})
        probe.close()
        on_failure.pop_all()
    # JAX's coordination service listens here next, so the port had to be freed before anyone hears "go".
    for guest in guests:
        if guest.process:
            guest.line.send({"go": True})
        else:
            guest.line.close()
    lines = {process: guest.line for process, guest in _admitted(guests).items()}
    if local:
        own = every = str(socket.getaddrinfo(host, port)[0][4][0])
    else:
        # Only where the others reach it, if that is one address: strangers may be in other networks.
        reached = {line.own_address() for line in lines.values()}
        own, every = (reached.pop(),) * 2 if len(reached) == 1 else ("127.0.0.1", "::")
    return Meeting(lines, coordinator=join_address(own, port), bind=join_address(every, port))


def _listen(wait: _Wait, host: str | None, port: int) -> socket.socket:
    with _Probe(wait) as probe:
        while True:
            try:
                return listen(host, port)
            except OSError as error:
                if wait.left() <= 0:
                    raise ClusterStartError(
                        f"{wait.roster.me} could not listen on its port {port} for {wait.seconds:g} s: "
                        f"{_reason(error)}. Usually a process of an earlier run still holds it, or two tasks of "
                        f"the cluster have this address: `ss -ltnp 'sport = :{port}'` shows which. End that "
                        "process, or give this task another port in every task's list.",
                        retryable=True,
                    ) from error
                wait.tell(f"its own port {port} ({_reason(error)})")
                probe.check(min(0.2, max(0.0, wait.left())))


class _Probe:
    """Looks who answers at the address of process 0: another process may claim to be it, too.

    It connects once this one has waited a while, as others would, and says that it is process 0.
    """

    def __init__(self, wait: _Wait) -> None:
        self._wait, self._begin = wait, time.monotonic() + _QUIET
        self._line: Line | None = None
        self._is_done = False
        self._hello = _hello(wait.roster)
        self.challenge = self._hello["challenge"]  # by which this process knows its own probe

    def __enter__(self) -> "_Probe":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def check(self, seconds: float = 0.0) -> None:
        """Goes on with the probe.

        Args:
            seconds: how long to wait, for an answer if there may be one; if that is some, it begins at once.

        Raises:
            ClusterStartError: another process 0 has answered.
        """
        if self._is_done or (not seconds and time.monotonic() < self._begin):
            time.sleep(seconds)
            return
        if self._line is None:
            try:
                host, port = split_address(self._wait.roster.addresses[0])
                self._line = connect(host, port, 2.0)
            except OSError:  # the address may lead here only from elsewhere
                self.close()
                return
            self._line.send(self._hello)
        end = time.monotonic() + seconds
        while not self._is_done:
            if readable([self._line], max(0.0, end - time.monotonic())):
                self._read(self._line)
            elif time.monotonic() >= end:
                return

    def _read(self, line: Line) -> None:
        messages = line.receive()
        if messages is None:
            self.close()
        for message in messages or ():
            if "challenge" in message and self._wait.token:
                _answer(self._wait, line, self._hello, message)
            if message.get("is_double"):
                self.close()
                raise ClusterStartError(
                    f"{self._wait.roster.me} was sent away. {plain(message.get('refused'), 1000)}"
                )

    def close(self) -> None:
        """Ends the probe."""
        self._is_done = True
        if self._line is not None:
            self._line.close()


def _hello(roster: Roster) -> dict[str, Any]:
    return {
        **{"process_id": roster.process_id, "addresses": list(roster.addresses)},
        **{"host": socket.gethostname(), "pid": os.getpid(), "challenge": make_challenge()},
    }


def _claim(hello: Mapping[str, Any]) -> list[Any]:
    """What of a hello is proven with the token."""
    return [hello.get("process_id"), hello.get("addresses")]


def _admitted(guests: Iterable[_Guest]) -> dict[int, _Guest]:
    return {guest.process: guest for guest in guests if guest.process}


def _dismiss(guest: _Guest, guests: list[_Guest], strangers: Strangers) -> None:
    guests.remove(guest)
    strangers.forget(guest.line)
    guest.line.close()


def _receive(
    wait: _Wait, listener: socket.socket, guests: list[_Guest], strangers: Strangers
) -> None:
    """Waits briefly for connections and messages; drops processes that have left or are silent."""
    by_line = {guest.line: guest for guest in guests}
    for ready in readable([listener, *by_line], min(0.2, wait.left())):
        if isinstance(ready, socket.socket):
            if line := strangers.accept(listener, _most_bytes(wait.roster)):
                guests.append(_Guest(line, time.monotonic()))
            continue
        guest = by_line[ready]
        messages = guest.line.receive()
        # One that has left is dropped as if it had been silent for ever.
        guest.heard = -math.inf if messages is None else time.monotonic()
        guest.hello = guest.hello or next(filter(None, messages or ()), {})
        guest.is_known = bool(guest.is_known or (guest.hello and not wait.token))
        guest.answer = next(
            (one["proof"] for one in messages or () if "proof" in one), guest.answer
        )
    for guest in guests:
        if guest.is_known:
            strangers.forget(guest.line)
    # What a stranger sends piece by piece does not count.
    overdue = set(strangers.overdue())
    for guest in list(guests):
        if guest.line in overdue or time.monotonic() - guest.heard > ANSWER_SECONDS:
            _dismiss(guest, guests, strangers)
            if guest.process:
                wait.departed.add(guest.process)


def _admit(wait: _Wait, guests: list[_Guest], strangers: Strangers, probe: _Probe) -> None:
    """Admits processes of this cluster, and sends others away."""
    for guest in [one for one in guests if one.hello and not one.process]:
        if (
            guest.hello.get("challenge") == probe.challenge
        ):  # the address of this process leads here
            _dismiss(guest, guests, strangers)
            continue
        if not (guest.is_known or _has_proven(wait, guest)):
            continue
        who = _who(guest.hello)
        problem = _disagreement(wait.roster, guest.hello, who)
        if guest.hello.get("has_token") and not wait.token:
            problem = f"{who} has the secret of a job, and {wait.roster.me} has none. {_SAME_TOKEN}"
        process = guest.hello.get("process_id", 0)
        is_double = problem is None and process == 0
        if is_double:
            problem = _claimed_twice(wait.roster, 0, _who(_hello(wait.roster)), who)
        if problem is None and (first := _admitted(guests).get(process)):
            # If the one admitted has been silent since, it died unnoticed, and this one will replace it.
            if first.heard <= guest.arrived:
                continue
            problem = _claimed_twice(wait.roster, process, _who(first.hello), who)
        if problem is None:
            guest.process = process
            guest.line.most_bytes = MAX_BYTES
            continue
        # Whoever is not of this cluster learns nothing of it.
        told, _, secret = problem.partition(_DETAILS)
        guest.line.send({"refused": told + _SEE * bool(secret), "is_double": is_double})
        guest.line.finish()
        _dismiss(guest, guests, strangers)
        wait.refuse(problem.replace(_DETAILS, ""), who)


def _has_proven(wait: _Wait, guest: _Guest) -> bool:
    """Proves to a guest that this process has the token, asks for a proof, and checks it, once; a wrong one sends it away."""
    theirs = guest.hello.get("challenge", "")
    if not guest.challenge:
        guest.challenge = make_challenge()
        proof = prove(wait.token, "host", theirs, guest.challenge)
        guest.line.send({"challenge": guest.challenge, "proof": proof})
    if guest.answer is None:
        return False
    said = theirs, guest.challenge, _claim(guest.hello)
    guest.is_known = is_proof(guest.answer, wait.token, "guest", *said)
    if not guest.is_known:
        guest.heard = -math.inf
        wait.refuse(f"{_who(guest.hello)} does not have the secret of this job. {_SAME_TOKEN}")
    return guest.is_known


def _most_bytes(roster: Roster) -> int:
    """How long the first message of a process may be: its list of addresses may differ from this one, a little."""
    return min(MAX_BYTES, 4096 + 2 * len(json.dumps(roster.addresses)))


def _who(hello: Mapping[str, Any]) -> str:
    return f"process {plain(hello.get('pid', '?'), 20)} on {plain(hello.get('host', '?'), 80)}"


def _claimed_twice(roster: Roster, process: int, first: str, second: str) -> str:
    return (
        f"Two processes claim to be {roster.label(process)}: {first} came first, then {second}. Give each its own "
        '"task" in TF_CONFIG.'
    )


def _disagreement(roster: Roster, hello: Mapping[str, Any], who: str) -> str | None:
    """Says how a newcomer's cluster differs from this one, if it does."""
    process, theirs = hello.get("process_id"), hello.get("addresses")
    if not isinstance(theirs, list) or not isinstance(process, int):
        return f"{who} sent no list of addresses: is it the same release of jaxtribute?"
    if not 0 <= process < len(roster.addresses) and len(theirs) == len(roster.addresses):
        return f"{who} claims to be process {plain(process, 20)} of {len(theirs)}."
    mine = list(roster.addresses)
    pairs = enumerate(zip(mine, theirs, strict=False))
    differ = [i for i, pair in pairs if not roster.same_address(*pair, i in (0, process))]
    more = ""
    if len(mine) != len(theirs):
        what = f"{len(mine)} tasks here, {len(theirs)} there"
    elif differ:
        i = differ[0]
        what = f"about the address of {roster.names[i]}"
        more = f" {roster.names[i]} is at {mine[i]} here, at {plain(theirs[i], 100)} there."
    else:
        return None
    return (
        f"{roster.me} and {who} disagree about the cluster ({what}).{_FIX}{_DETAILS}{more} Expected {mine}, as in "
        f"{roster.me}, but it has {plain(theirs, 2000)}."
    )


def _reachable(roster: Roster, listener: socket.socket, guests: list[_Guest]) -> str:
    """Says what to check, and whether the address of this process leads here."""
    host, port = split_address(roster.addresses[0])
    try:
        with contextlib.closing(connect(host, port, 2.0)):
            here = readable([listener], 1.0)
        leads = "leads to this process from here" if here else "leads to another process"
    except OSError as error:
        leads = f"does not lead to this process even from here: {_reason(error)}"
    strangers = len(guests) - len(_admitted(guests))
    silent = f" {strangers} connection(s) never said who they were." * bool(strangers)
    return f"{_STARTED} Check that it can connect to {roster.addresses[0]}, which {leads}.{silent}"


def _join(wait: _Wait) -> Meeting:
    """Waits for the others in a process other than 0."""
    roster, why = wait.roster, "not tried yet"
    host, port = split_address(roster.addresses[0])
    while wait.left() > 0:
        try:
            line = connect(host, port, min(3.0, max(0.1, wait.left())))
            with contextlib.ExitStack() as on_failure:
                on_failure.callback(line.close)
                _hear(wait, line)
                on_failure.pop_all()
            return Meeting({0: line}, join_address(line.peer_address(), port), "")
        except OSError as error:
            why = _reason(error)
        wait.tell(f"{roster.listed([0])} ({why})")
        time.sleep(min(0.3, max(0.0, wait.left())))
    raise wait.give_up(
        [0],
        f"The last try to connect: {why}. Check that {roster.names[0]} was started and still runs, that "
        f"{host!r} resolves here to its machine (`getent hosts {host}`), and that nothing blocks port {port} "
        "between the two. Only it knows which other tasks are there.",
    )


def _hear(wait: _Wait, line: Line) -> None:
    """Greets process 0, and listens until it is told to go.

    Raises:
        ClusterStartError: tasks are missing at the deadline, or process 0 has sent this one away.
        ConnectionError: process 0 is lost, or another program listens there.
    """
    roster, missing = wait.roster, list[int]()
    hello = _hello(roster) | {"has_token": bool(wait.token)}
    is_proven = not wait.token
    line.send(hello)
    heard = beat = time.monotonic()
    while wait.left() > 0:
        if time.monotonic() - beat >= _BEAT:
            beat = time.monotonic()
            line.send({"here": True})
        if time.monotonic() - heard > _PATIENCE:
            raise ConnectionError(f"{_SOMEBODY}, but has said nothing for {_PATIENCE:g} s")
        if not readable([line], min(_BEAT / 2, wait.left())):
            continue
        messages = line.receive()
        if messages is None:
            raise ConnectionError("it was there, and has ended" if missing else _NOT_STARTING)
        heard = time.monotonic()
        for message in messages:
            if "challenge" in message and not is_proven:
                _answer(wait, line, hello, message)
                is_proven = True
                continue
            if "challenge" in message or not is_proven:
                have = (
                    (roster.names[0], roster.me)
                    if "challenge" in message
                    else (roster.me, roster.names[0])
                )
                raise ClusterStartError(
                    f"{have[0]} has the secret of a job, and {have[1]} has none. {_SAME_TOKEN}"
                )
            if "refused" in message:
                own = f"In {roster.me} it is {list(roster.addresses)}."
                raise ClusterStartError(
                    f"{roster.me} was sent away. {plain(message['refused'], 1000)} {own}"
                )
            if message.get("go"):
                return
            waiting = message.get("waiting", message.get("gave_up"))
            if not isinstance(waiting, list):
                continue
            missing = [i for i in waiting if isinstance(i, int) and 0 < i < len(roster.names)]
            if "gave_up" in message:
                raise wait.give_up(missing, f"{roster.names[0]} has given up too. {_STARTED}")
            wait.tell(roster.listed(missing))
    if not missing:
        raise ConnectionError(f"{_SOMEBODY}, but has said nothing")
    raise wait.give_up(missing, _STARTED)


def _answer(wait: _Wait, line: Line, hello: Mapping[str, Any], message: Mapping[str, Any]) -> None:
    """Checks that process 0 has the token, and proves that this process has it.

    Raises:
        ClusterStartError: it has another one.
    """
    said = hello["challenge"], str(message["challenge"])
    if not is_proof(message.get("proof"), wait.token, "host", *said):
        raise ClusterStartError(
            f"Who answers at {wait.roster.addresses[0]} does not have the secret of this job. {_SAME_TOKEN}"
        )
    line.send({"proof": prove(wait.token, "guest", *said, _claim(hello))})


def _reason(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__
