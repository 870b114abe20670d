"""What options of a launch must look like, before they stand in a script, a manifest or an environment."""

import ipaddress
import math
import re
from collections.abc import Iterable

from spmd.cluster import LAST_PORT, canonical_host, read_address, read_port
from spmd.errors import LaunchError

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOST = re.compile(
    r"(?=.{1,253}$)[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?)*\.?"
)
# Longer numbers are no number of workers either, and Python reads none of thousands of digits.
_WORKERS = re.compile(r"(?:(?P<least>-?[0-9]{1,9}):)?(?P<most>-?[0-9]{1,9})")
# What YAML cannot hold: control characters besides tabs and line breaks, halves of characters.
_UNWRITABLE = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Far above what anyone means: a task more is a slip of the finger.
MOST_TASKS = 10_000
MOST = 1_000_000
MOST_SECONDS = 10 * 366 * 24 * 3600


def check_number(option: str, value: float, least: float = 0, most: float = MOST) -> None:
    """Raises LaunchError if the value of an option is no number from `least` to `most`.

    Examples:
        >>> check_number("--grace-seconds", float("nan"))
        Traceback (most recent call last):
            ...
        spmd.errors.LaunchError: Expected --grace-seconds to be from 0 to 1000000, but it is nan. Write, for example, --grace-seconds 0.
    """
    if not math.isfinite(value) or not least <= value <= most:
        raise LaunchError(
            f"Expected {option} to be from {least} to {most}, but it is {value}. Write, for example, {option} {least}."
        )


def read_workers(text: str) -> tuple[int, int | None]:
    """Reads `--workers N` or `--workers MIN:MAX`.

    Returns:
        How many workers there are at most, and at least; None if their number is fixed.

    Raises:
        LaunchError: it is neither.

    Examples:
        >>> read_workers("4"), read_workers("2:4")
        ((4, None), (4, 2))
    """
    match = _WORKERS.fullmatch(text)
    if match is None:
        raise LaunchError(
            f"Expected --workers N, or --workers MIN:MAX for a number that may change, but it is {ascii(text)[:80]}. Write, for "
            "example, --workers 4 or --workers 2:4."
        )
    least, most = match["least"], match["most"]
    return int(most), None if least is None else int(least)


def check_variable(name: str, value: str) -> None:
    """Raises LaunchError if an environment variable could not be set, or its name would be run by a shell."""
    if not _VARIABLE.fullmatch(name):
        raise LaunchError(
            f"Expected --env NAME=VALUE with a name of letters, digits and underscores that begins with no digit, but the "
            f"name is {name!a}. Write, for example, --env DATA_DIR=/data."
        )
    check_text(f"--env {name}=...", value)


def check_text(what: str, text: str) -> None:
    """Raises LaunchError if a text cannot be a word of a command line and stand in a file of UTF-8."""
    if _UNWRITABLE.search(text):
        raise LaunchError(
            f"Expected text without zero bytes, control characters and broken characters, but {what} has them: {ascii(text)[:200]}."
        )


def check_port(option: str, text: str) -> int:
    """Returns the number of a port; raises LaunchError if it is none."""
    port = read_port(text)
    if port is None:
        raise LaunchError(
            f"Expected {option} between 1 and {LAST_PORT}, but it is {ascii(text)[1:-1]}."
        )
    return port


def address_of(text: str, port: int, option: str = "--hosts") -> str:
    """Checks a host, to which a port may be attached, and attaches one if there is none.

    Args:
        text: a name, an IPv4 address or an IPv6 address in brackets; and maybe `:` and a port.
        port: the port if there is none.
        option: where the host comes from, for the error.

    Raises:
        LaunchError: it is no host, or the port is none.

    Examples:
        >>> address_of("node0", 2222), address_of("[::1]:2300", 2222)
        ('node0:2222', '[::1]:2300')
    """
    host, own = read_address(text) or (text, None)
    if text.count(":") > 1 and not text.startswith("["):
        raise LaunchError(
            f"Expected a host, or HOST:PORT, but {option} names {text!a}. Write an IPv6 address in brackets, for example "
            f"{option} '[{ascii(text)[1:-1]}]'."
        )
    if host.startswith("["):
        try:
            # A scope is of one machine.
            ipaddress.IPv6Address("" if "%" in host else host.strip("[]"))
        except ValueError:
            raise LaunchError(
                f"Expected an IPv6 address in brackets, but {option} names {text!a}. Write, for example, {option} '[fd00::1]'."
            ) from None
    elif not _HOST.fullmatch(host):
        raise LaunchError(
            f"Expected hosts of letters, digits, dashes and dots, but {option} names {text!a}. Write, for example, "
            f"{option} {'node0,node1:2300' if option == '--hosts' else 'node0:2300'}."
        )
    return f"{host}:{check_port(f'the port of {host}', str(port) if own is None else own)}"


def check_all_differ(addresses: Iterable[str], names: Iterable[str]) -> None:
    """Raises LaunchError if two hosts are the same address, however they are written."""
    seen: dict[str, str] = {}
    for address, name in zip(addresses, names, strict=True):
        host, _, port = address.rpartition(":")
        key = f"{canonical_host(host)}:{port}"
        if key in seen:
            both = f"{seen[key]} and {name}" if seen[key] != name else f"{name} more than once"
            raise LaunchError(
                f"Expected hosts, each of them once, but --hosts names {both}: every task needs an address of its own. Give "
                f"tasks that share a host different ports: --hosts '{host}:2222,{host}:2223'."
            )
        seen[key] = name
