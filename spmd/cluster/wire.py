"""Messages between the processes of a cluster: one JSON object a line, over TCP.

They are parsed by `json` only, so that nothing a stranger sends can run. When a process dies, the kernel closes its end,
and the peer sees that.
"""

import contextlib
import json
import os
import selectors
import socket
import weakref
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

MAX_BYTES = 1 << 20  # room for a list of thousands of tasks
_SEND_SECONDS = 5.0  # a small message that cannot be sent for so long has no reader
_Source = TypeVar("_Source", bound="Line | socket.socket")
_open_lines: "weakref.WeakSet[Line]" = weakref.WeakSet()


class Line:
    """One end of a connection that carries JSON objects; takes over a connected socket.

    Attributes:
        most_bytes: of a message that is received.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(_SEND_SECONDS)
        self._socket = connection
        self.most_bytes = MAX_BYTES
        self._unread = b""
        _open_lines.add(self)

    def fileno(self) -> int:
        """Returns the file descriptor, for selectors."""
        return self._socket.fileno()

    def peer_address(self) -> str:
        """Returns the IP address of the peer."""
        return self._socket.getpeername()[0]

    def own_address(self) -> str:
        """Returns the IP address of this end."""
        return self._socket.getsockname()[0].removeprefix("::ffff:")

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends a message, which is lost if the peer is gone; blocks for at most 5 seconds."""
        with contextlib.suppress(OSError):
            self._socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self) -> list[dict[str, Any]] | None:
        """Reads what has arrived; blocks unless `readable` returned this line.

        Returns:
            The complete messages; None if the peer closed the line or sent something that is not a message.
        """
        try:
            arrived = self._socket.recv(1 << 16)
            *lines, self._unread = (self._unread + arrived).split(b"\n")
            messages = [json.loads(line) for line in lines]
        except (OSError, ValueError, RecursionError):  # the last from brackets within brackets
            return None
        if not arrived or len(self._unread) > self.most_bytes:
            return None
        return messages if all(isinstance(message, dict) for message in messages) else None

    def close(self) -> None:
        """Closes this end; what was sent still arrives."""
        self._socket.close()

    def finish(self) -> None:
        """Ends sending; the peer reads what was sent, then the end."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)


def readable(lines: Iterable[_Source], seconds: float) -> list[_Source]:
    """Waits, for at most `seconds`, until a line has data or a listening socket a connection.

    Returns:
        Those whose `receive`, or `accept`, does not block.
    """
    with selectors.DefaultSelector() as selector:
        for line in lines:
            selector.register(line, selectors.EVENT_READ, line)
        return [key.data for key, _ in selector.select(max(0.0, seconds))]


def connect(host: str, port: int, seconds: float) -> Line:
    """Connects to a listening process.

    Args:
        host: a name or address, without brackets.
        port: its port.
        seconds: how long to try each address of the host.

    Raises:
        OSError: the name is unknown, nobody listens there, or nobody answers.
    """
    return Line(socket.create_connection((host, port), timeout=seconds))


def listen(host: str | None, port: int) -> socket.socket:
    """Listens on a port of one address, or, if `host` is None, of all addresses of this machine.

    Returns:
        The socket. Closing it frees the port at once, even while connections that it accepted stay open.

    Raises:
        OSError: the port is taken.
    """
    if host is not None:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server((str(where[0]), port), family=family)
    if socket.has_dualstack_ipv6():
        with contextlib.suppress(OSError):  # the kernel has IPv6, but the container does not
            return socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))


def _close_in_child() -> None:
    # A forked child (a data loader, say) that outlives this process would keep the lines open, and the
    # peers would not see that it is dead.
    for line in list(_open_lines):
        line.close()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork either
    os.register_at_fork(after_in_child=_close_in_child)
