"""The thread in which a leader hears its agents, beside the agent of its own machine."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from spmd.cluster import Line, is_loopback, plain, readable
from spmd.launch.agents.handshake import Door
from spmd.launch.agents.leader import Leader, Member, port_in
from spmd.launch.agents.start import Start

BEAT_SECONDS = 1.0
# An agent that is silent for so long is lost; so is the leader. Its main loop may wait for output, and for the guard.
SILENCE_SECONDS = 20.0
_END_SECONDS = 5.0  # for agents to hear that the job is over


class Leading:
    """Hears agents on a socket, and has a leader decide, until the job is over.

    Args:
        listener: where agents connect.
        token: the secret of the job.
        leader: what decides.
        say: shows a line.
    """

    def __init__(
        self, listener: socket.socket, token: bytes, leader: Leader, say: Callable[[str], None]
    ) -> None:
        self._leader = leader
        self._door = Door(listener, token, say)
        self._members: dict[Line, Member] = {}
        self._heard: dict[Line, float] = {}
        self._say = say
        self._command: object = None
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spmd-launch-leader", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends leading: once all agents have heard that the job is over, or, if it is not, at once."""
        self._ends.set()
        self._thread.join(2 * _END_SECONDS)

    def _run(self) -> None:
        beat, until = 0.0, float("inf")
        with contextlib.ExitStack() as stack:
            stack.callback(self._door.close)
            stack.callback(lambda: [line.close() for line in self._members])
            while (self._members or until == float("inf")) and not (
                self._leader.status is None and self._ends.is_set()
            ):
                for ready in readable([*self._door.sources, *self._members], 0.2):
                    self._hear(ready)
                self._door.drop_overdue()
                now = time.monotonic()
                for line, heard in list(self._heard.items()):
                    if now - heard > SILENCE_SECONDS:
                        self._lose(line, f"has been silent for {SILENCE_SECONDS:g} s")
                if now >= beat:
                    beat = now + BEAT_SECONDS
                    for line in self._members:
                        line.send({"here": True})
                if self._leader.status is None:
                    self._leader.poll(now)
                elif until == float("inf"):
                    until = now + _END_SECONDS
                elif now > until:
                    return

    def _hear(self, ready: Line | socket.socket) -> None:
        now = time.monotonic()
        if not isinstance(ready, Line) or ready not in self._members:
            if admitted := self._door.hear(ready):
                self._admit(*admitted)
            return
        messages = ready.receive()
        if messages is None:
            self._lose(ready, "has gone: its connection closed")
            return
        self._heard[ready] = now
        for message in messages:
            self._leader.hear(self._members[ready], message, now)

    def _admit(self, line: Line, claim: Mapping[str, Any]) -> None:
        now, leads = time.monotonic(), claim.get("leads") is True
        try:
            host = line.peer_address().removeprefix("::ffff:")
        except OSError:  # it has gone again
            line.close()
            return
        name = plain(claim.get("name"), 80)
        if any(member.name == name for member in self._members.values()):
            name += f" (process {plain(claim.get('pid'), 20)})"
        command = plain(claim.get("command"), 1000)
        if self._command not in (None, command):
            self._say(
                f"{name} runs another command: {command}, while the first agent runs {self._command}"
            )
        self._command = self._command or command
        member = Member(name, host, line.send, leads, port_in(claim))
        self._members[line], self._heard[line] = member, now
        self._correct_hosts()
        self._leader.join(member, now, Start.read(claim))

    def _correct_hosts(self) -> None:
        """Gives agents of the leader's machine, if they have come by the loopback address, one that other machines can use."""
        here = [one for one in self._members.values() if is_loopback(one.host)]
        used = (line.own_address() for line, one in self._members.items() if one not in here)
        if here and (address := next(used, None)):
            for member in here:
                member.host = address

    def _lose(self, line: Line, why: str) -> None:
        self._leader.leave(self._members.pop(line), why, time.monotonic())
        del self._heard[line]
        line.close()
