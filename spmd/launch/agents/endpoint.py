"""Which agent leads: the one on the machine that the endpoint names."""

import contextlib
import socket

from spmd.cluster import is_loopback, listen


def listen_if_own(host: str, port: int) -> socket.socket | None:
    """Listens at an endpoint if it is on this machine, and nobody listens there yet.

    Args:
        host: its name or address, without brackets.
        port: its port.

    Returns:
        The socket; None if the endpoint is on another machine, unknown so far, or taken.

    Examples:
        >>> listen_if_own("192.0.2.1", 2222) is None  # an address of nobody
        True
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:  # the name is not known yet
        return None
    for _, _, _, _, (address, *_) in found:
        # Debian's /etc/hosts has machines call themselves 127.0.1.1, where no other machine finds them.
        is_alias = is_loopback(str(address)) and not is_loopback(host)
        with contextlib.suppress(OSError):
            return listen(None if is_alias else str(address), port)
    return None
