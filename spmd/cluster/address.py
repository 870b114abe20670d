"""Addresses of tasks, `host:port`: how they are written, and which texts mean the same one."""

import ipaddress
import re

# A scope of an IPv6 address, after `%`, is the name of a network interface.
_ADDRESS = re.compile(
    r"(?P<host>\[[0-9A-Fa-f:.]+(%[\w.-]+)?\]|[^\s/:\[\]]+)(:(?P<port>[^\s/:\[\]]*))?", re.ASCII
)
LAST_PORT = 65535


def read_address(text: str) -> tuple[str, str | None] | None:
    """Takes an address apart, into a host and the port after it, as they are written.

    Args:
        text: `host:port`, or a host alone; an IPv6 address has brackets.

    Returns:
        The host and the port, which is None if there is none; None if the text is no address.

    Examples:
        >>> read_address("[::1]:2222"), read_address("node0"), read_address("::1")
        (('[::1]', '2222'), ('node0', None), None)
    """
    match = _ADDRESS.fullmatch(text)
    return None if match is None else (match["host"], match["port"])


def read_port(text: str | None) -> int | None:
    """Reads the number of a port; None if it is none.

    Examples:
        >>> read_port("2222"), read_port("0"), read_port("65536"), read_port("x")
        (2222, None, None, None)
    """
    if text is None or not (text.isascii() and text.isdigit() and len(text) <= 5):
        return None
    return int(text) if 0 < int(text) <= LAST_PORT else None


def split_address(address: str) -> tuple[str, int]:
    """Splits `"host:port"` into the host, without an IPv6 address's brackets, and the port.

    Raises:
        ValueError: it is not such an address.

    Examples:
        >>> split_address("[::1]:2222")
        ('::1', 2222)
    """
    host, text = read_address(address) or ("", None)
    port = read_port(text)
    if port is None:
        raise ValueError(
            f'Expected an address such as "10.0.0.1:2222" or "[fd00::1]:2222", but got {address!r}.'
        )
    return host.strip("[]"), port


def join_address(host: str, port: int) -> str:
    """Joins a host and a port to what `split_address` splits.

    Examples:
        >>> join_address("::1", 2222)
        '[::1]:2222'
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(host: str) -> bool:
    """Tells whether a host, given without brackets, means the local machine.

    Examples:
        >>> is_loopback("127.0.0.1"), is_loopback("::"), is_loopback("worker-0")
        (True, True, False)
    """
    if host.lower() == "localhost" or host.lower().endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:  # a name
        return False
    return address.is_loopback or address.is_unspecified


def canonical_host(host: str) -> str:
    """Writes a host as all texts that mean the same address are written; asks nobody for names.

    Examples:
        >>> canonical_host("LOCALHOST"), canonical_host("[0:0::1]"), canonical_host("Node0.")
        ('127.0.0.1', '::1', 'node0')
    """
    host = host.lower().rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return "127.0.0.1"
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:  # a name
        return host
