"""An agent and its leader prove to each other that they have the secret of the job, before either believes the other.

    agent -> leader   {"challenge": A}
    leader -> agent   {"challenge": B, "proof": of A and B}
    agent -> leader   {"claim": who it is, "proof": of A, B and the claim}
    leader -> agent   {"welcome": true}

A stranger learns that the port is open. What it sends is bounded in size and time, and so is the number of strangers.
"""

import contextlib
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

from spmd.cluster import (
    ANSWER_SECONDS,
    Line,
    Refusals,
    Strangers,
    is_proof,
    make_challenge,
    prove,
    readable,
)
from spmd.errors import LaunchError

_STRANGER_BYTES = 16_384  # room for the command of an agent
_SAME = "Give every agent the same secret: RAY_AUTH_TOKEN_PATH names a file with the same contents on every machine."


def greet(line: Line, token: bytes, claim: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Proves to a leader that this agent has the secret, and has it prove the same; blocks for at most five seconds.

    Args:
        line: to the leader.
        token: the secret.
        claim: what the leader is to know of this agent.

    Returns:
        What the leader has said since: its first messages may arrive together with the welcome.

    Raises:
        LaunchError: who answers does not have the secret, or finds that this agent does not have it.
        ConnectionError: it does not answer.
    """
    deadline, own = time.monotonic() + ANSWER_SECONDS, make_challenge()
    line.send({"challenge": own})
    answer = _next(line, deadline)[0]
    theirs = answer.get("challenge")
    if not is_proof(answer.get("proof"), token, "leader", own, theirs):
        raise LaunchError(
            f"Expected an agent that has the secret of this job, but who answers at {line.peer_address()} does not prove it. {_SAME}"
        )
    line.send({"claim": claim, "proof": prove(token, "agent", own, theirs, claim)})
    welcome, *further = _next(line, deadline)
    if not welcome.get("welcome"):
        raise LaunchError(f"Expected to be let in, but the leader found no proof. {_SAME}")
    return further


def _next(line: Line, deadline: float) -> list[dict[str, Any]]:
    """Waits for a message; returns it, and those that arrived together with it."""
    while (left := deadline - time.monotonic()) > 0:
        if readable([line], left):
            messages = line.receive()
            if messages is None:
                raise ConnectionError("who listens there closed the connection")
            if messages:
                return messages
    raise ConnectionError(f"who listens there has said nothing for {ANSWER_SECONDS:g} s")


class Door:
    """Lets agents in that prove to have the secret.

    Args:
        listener: where they connect.
        token: the secret.
        say: tells of those that are sent away.
    """

    def __init__(self, listener: socket.socket, token: bytes, say: Callable[[str], None]) -> None:
        self.listener = listener
        self._token, self._refusals = token, Refusals(say)
        self._strangers, self._said = Strangers(), dict[Line, _Said]()

    @property
    def sources(self) -> list[Line | socket.socket]:
        """What to wait for: the listener, and the connections of strangers."""
        return [self.listener, *self._said]

    def hear(self, ready: Line | socket.socket) -> tuple[Line, dict[str, Any]] | None:
        """Acts on a source that has something; returns the line to an agent that is let in, and its claim."""
        if isinstance(ready, socket.socket):
            if line := self._strangers.accept(self.listener, _STRANGER_BYTES):
                self._said[line] = _Said()
            return None
        said, messages = self._said[ready], ready.receive()
        for message in [{}] if messages is None else messages:
            if not said.own and isinstance(message.get("challenge"), str):
                said.own, said.theirs = make_challenge(), message["challenge"]
                proof = prove(self._token, "leader", said.theirs, said.own)
                ready.send({"challenge": said.own, "proof": proof})
                continue
            del self._said[ready]
            self._strangers.forget(ready)
            claim = message.get("claim")
            of_both = "agent", said.theirs, said.own, claim
            if isinstance(claim, dict) and said.own:
                if is_proof(message.get("proof"), self._token, *of_both):
                    ready.send({"welcome": True})
                    return ready, claim
                self._refuse(ready)
            ready.close()
            return None
        return None

    def drop_overdue(self) -> None:
        """Drops strangers that take too long, or are too many."""
        for line in self._strangers.overdue():
            del self._said[line]
            self._strangers.forget(line)
            line.close()

    def close(self) -> None:
        """Lets nobody in any more."""
        self.listener.close()
        for line in self._said:
            line.close()

    def _refuse(self, line: Line) -> None:
        with contextlib.suppress(OSError):
            who = f"{line.peer_address()} does not have the secret of this job. {_SAME}"
            self._refusals.tell(who, "sent an agent away.")
        line.send({"refused": True})
        line.finish()


class _Said:
    """The challenges of a connection that has not proven anything yet: the door's, and its own."""

    def __init__(self) -> None:
        self.own, self.theirs = "", ""
