"""Messages between the processes of a cluster: one JSON object a line, over TCP.

They say who is there and how far it is, no more, and are read by `json` only, so that nothing that a
stranger sends can run. A line has an end at both ends: whoever loses its process sees the other one close.
"""

import contextlib
import json
import os
import selectors
import socket
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

_LONGEST = 1 << 20  # a table of thousands of tasks fits in
_SEND_SECONDS = 5.0  # messages are small: one that finds no room for so long has no reader
_open_lines: "weakref.WeakSet[Line]" = weakref.WeakSet()


class Line:
    """One end of a connection that carries JSON objects.

    Args:
        connection: a connected socket, which the line owns from now on.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(_SEND_SECONDS)
        self._socket = connection
        self._unread = b""
        _open_lines.add(self)

    def fileno(self) -> int:
        """Returns the file descriptor, for `select`."""
        return self._socket.fileno()

    def peer_address(self) -> str:
        """Returns the IP address of the peer."""
        return self._socket.getpeername()[0]

    def send(self, message: Mapping[str, Any]) -> bool:
        """Sends a message; blocks for 5 seconds at most.

        Args:
            message: what `json` can write.

        Returns:
            Whether it could be handed to the system; the other end may be gone all the same.
        """
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            return False
        return True

    def receive(self) -> list[dict[str, Any]] | None:
        """Reads what has arrived; blocks unless `select` named this line.

        Returns:
            The messages that are complete; None when the other end closed, or sent what is no message.
        """
        try:
            arrived = self._socket.recv(1 << 16)
        except OSError:
            return None
        *lines, self._unread = (self._unread + arrived).split(b"\n")
        if not arrived or len(self._unread) > _LONGEST:
            return None
        try:
            messages = [json.loads(line) for line in lines]
        except ValueError:
            return None
        return messages if all(isinstance(message, dict) for message in messages) else None

    def close(self) -> None:
        """Closes this end; what was sent before still arrives."""
        self._socket.close()

    def finish(self) -> None:
        """Says that nothing more will be sent; the other end reads what was sent, then the end."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)


def readable(lines: Iterable[Any], seconds: float) -> list[Any]:
    """Waits until something can be read.

    Args:
        lines: lines, or sockets that listen.
        seconds: how long to wait at most.

    Returns:
        Those that `receive`, or `accept`, does not block on.
    """
    with selectors.DefaultSelector() as selector:
        for line in lines:
            selector.register(line, selectors.EVENT_READ)
        return [key.fileobj for key, _ in selector.select(max(0.0, seconds))]


def connect(host: str, port: int, seconds: float) -> Line:
    """Connects to a process that listens.

    Args:
        host: a name or address, without brackets.
        port: its port.
        seconds: how long each of the addresses of the host is tried.

    Returns:
        The line.

    Raises:
        OSError: the name is unknown, nobody listens there, or nobody answers.
    """
    return Line(socket.create_connection((host, port), timeout=seconds))


def listen(host: str | None, port: int) -> socket.socket:
    """Listens at a port.

    Args:
        host: the address to listen at; None stands for every address of this machine.
        port: the port.

    Returns:
        The socket. Its port is free again for others to listen at as soon as it is closed, even while
        connections that came through it stay open.

    Raises:
        OSError: the port is taken.
    """
    if host is not None:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server((str(where[0]), port), family=family)
    if socket.has_dualstack_ipv6():
        with contextlib.suppress(OSError):  # a kernel with IPv6, a container without
            return socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))


def split_address(address: str) -> tuple[str, int]:
    """Takes an address apart.

    Args:
        address: `"host:port"`; an IPv6 address stands in brackets.

    Returns:
        The host, without brackets, and the port.

    Raises:
        ValueError: it is no such address.

    Examples:
        >>> split_address("[::1]:2222")
        ('::1', 2222)
    """
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f'Expected an address such as "10.0.0.1:2222", but got {address!r}.')
    return host.removeprefix("[").removesuffix("]"), int(port)


def join_address(host: str, port: int) -> str:
    """Puts an address together.

    Args:
        host: a name or address, without brackets.
        port: the port.

    Returns:
        `"host:port"`, with an IPv6 address in brackets.

    Examples:
        >>> join_address("::1", 2222)
        '[::1]:2222'
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _let_go() -> None:
    # A forked child (a reader of data, say) that outlives this process would keep the lines open, and the
    # others would not see that their peer is dead.
    for line in list(_open_lines):
        line.close()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork either
    os.register_at_fork(after_in_child=_let_go)
