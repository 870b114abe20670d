"""Attacks a job of two workers from the same machine, without its secret, while it starts and while it trains.

    python -m tests.benchmarks attack

The job must start, train on and end well, and a stranger must learn nothing but that a port is open. What may be sent to
JAX's coordination service by whoever speaks its protocol is not tried: nothing guards it, see docs/security.md. Needs
Linux, which says who listens where.
"""

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests" / "benchmarks" / "programs" / "attacked.py"
CONNECTIONS = 600
_SECONDS = 5.0  # how long an attack listens for an answer
_WAIT_SECONDS = 300.0


def attacks(addresses: Sequence[str]) -> dict[str, bytes]:
    """What is sent, by name; the last ones are of somebody who knows the addresses of the cluster."""
    hello = {"process_id": 1, "addresses": list(addresses), "host": "\x1b[31mh", "pid": 1}
    claims = {**hello, "process_id": 0}
    return {
        "nothing": b"",
        "100,000 brackets": b"[" * 100_000 + b"\n",
        "500 kB without an end": b"x" * 500_000,
        "control characters": b'{"process_id": 1, "addresses": ["\\u001b[2J"], "host": "\\u0007"}\n',
        "an HTTP request": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "the start of HTTP/2 and then noise": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        + bytes(range(256)),
        "the start of TLS": bytes.fromhex("160301020001fc0303") + bytes(512),
        "the hello of worker 1": json.dumps({**hello, "challenge": "c"}).encode() + b"\n",
        "an old hello, without a challenge": json.dumps(hello).encode() + b"\n",
        "the hello of a second worker 0": json.dumps({**claims, "challenge": "c"}).encode() + b"\n",
    }


def main(words: Sequence[str]) -> int:
    """Attacks a job; returns 0 if it was none the worse for it."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks attack",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.parse_args(words)
    table = Table("while it", "port", "what comes", "answer", "told of the cluster")
    leaks = 0
    with tempfile.TemporaryDirectory() as folder, _job(Path(folder)) as (process, output):
        directory = Path(folder)
        _wait_for(lambda: (directory / "task-0.json").exists(), process, output)
        config = json.loads((directory / "task-0.json").read_text())
        addresses = config["cluster"]["worker"]
        port = int(addresses[0].rpartition(":")[2])
        _wait_for(lambda: port in _ports(process.pid), process, output)
        leaks += _attack("starts", [port], addresses, table)
        (directory / "start").touch()
        _wait_for((directory / "steps").exists, process, output)
        leaks += _attack("trains", sorted(_ports(process.pid)), addresses, table)
        before = int((directory / "steps").read_text())
        _wait_for(lambda: int((directory / "steps").read_text() or 0) > before, process, output)
        (directory / "end").touch()
        status = process.wait(_WAIT_SECONDS)
        text = output.read_text(errors="replace")
    raw = [letter for letter in text if not (letter.isprintable() or letter == "\n")]
    console = Console(width=120)
    console.print(table)
    print(text if status or raw else text[-300:])
    console.print(
        f"The job ended with status {status}; {leaks} answers told of the cluster; "
        f"{len(raw)} control characters and {len(text)} characters in its output."
    )
    return int(bool(status or leaks or raw))


def _attack(phase: str, ports: Sequence[int], addresses: Sequence[str], table: Table) -> int:
    """Runs all attacks on ports; returns how many answers told of the cluster."""
    leaks = 0
    for port in ports:
        for name, words in attacks(addresses).items():
            heard = _send(port, words)
            told = [address for address in addresses if address.encode() in heard]
            leaks += bool(told)
            answer = ascii(heard[:24].decode(errors="replace"))[1:-1] if heard else "none"
            table.add_row(phase, str(port), name, answer, ", ".join(told) or "nothing")
        with contextlib.ExitStack() as stack:
            opened = 0
            for _ in range(CONNECTIONS):
                with contextlib.suppress(OSError):
                    stack.enter_context(socket.create_connection(("localhost", port), 1.0))
                    opened += 1
            time.sleep(2.0)
        table.add_row(phase, str(port), f"{opened} connections at once", "none", "nothing")
    return leaks


def _send(port: int, words: bytes) -> bytes:
    """Sends bytes to a port; returns what comes back."""
    heard = b""
    with (
        contextlib.suppress(OSError),
        socket.create_connection(("localhost", port), _SECONDS) as one,
    ):
        one.settimeout(_SECONDS if words else 1.0)
        one.sendall(words)
        while piece := one.recv(1 << 16):
            heard += piece
    return heard


@contextlib.contextmanager
def _job(directory: Path) -> Iterator[tuple[subprocess.Popen, Path]]:
    """Starts the job; yields its launcher and the file with what it prints."""
    output = directory / "output.txt"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "spmd.cli", "launch", "--workers", "2"),
                *("--devices-per-worker", "1", "--max-restarts", "0", str(PROGRAM), str(directory)),
            ],
            env={**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"},
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        try:
            yield process, output
        finally:
            process.terminate()
            process.wait()


def _wait_for(true: Callable[[], bool], process: subprocess.Popen, output: Path) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while not true():
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"The job has ended, or hangs:\n{output.read_text(errors='replace')}")
        time.sleep(0.1)


def _ports(launcher: int) -> set[int]:
    """The ports that a launcher's tasks listen on, from what the kernel says of sockets and processes."""
    listening: dict[str, int] = {}
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == "0A":
                listening[rest[5]] = int(local.rpartition(":")[2], 16)
    found = set()
    for process in _family(launcher):
        with contextlib.suppress(OSError):
            for link in Path(f"/proc/{process}/fd").iterdir():
                inode = os.readlink(link).removeprefix("socket:[").rstrip("]")
                if inode in listening:
                    found.add(listening[inode])
    return found


def _family(process: int) -> list[int]:
    found = [process]
    for one in found:  # it grows meanwhile
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (thread / "children").read_text().split())
    return found
