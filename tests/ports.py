"""Ports of this machine that are free, for tests and benchmarks; needs neither JAX nor pytest, since peers import it."""

import contextlib
import socket


def free_ports(count: int) -> list[int]:
    """Finds ports of the loopback interface that nobody listens at, all different."""
    with contextlib.ExitStack() as stack:  # held until all are found, or one might be found twice
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def free_addresses(count: int) -> list[str]:
    """Finds addresses of this machine that nobody listens at, all different."""
    return [f"localhost:{port}" for port in free_ports(count)]
