"""Attacks jobs of two workers from the same machine, without their secret, while they start and while they train.

    python -m tests.benchmarks attack

One is started by a launcher, the other by two agents, which meet as on two machines. Each job must start, train on and end
well, and a stranger must learn nothing but that a port is open. What may be sent to
JAX's coordination service by whoever speaks its protocol is not tried: nothing guards it, see docs/security.md. Needs
Linux, which says who listens where.
"""

import argparse
import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.ports import free_ports

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
        "an agent without a challenge": json.dumps({"claim": {"name": "a"}, "proof": "p"}).encode()
        + b"\n",
        "an agent with a wrong proof": b'{"challenge": "c"}\n{"claim": {"name": "\\u001b[2J"}, "proof": "p"}\n',
        "brackets as a challenge": b'{"challenge": ' + b"[" * 900 + b"]" * 900 + b"}\n",
    }


def main(words: Sequence[str]) -> int:
    """Attacks a job; returns 0 if it was none the worse for it."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks attack",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.parse_args(words)
    console = Console(width=130)
    failed = 0
    for job in (_Launched, _WithAgents):
        with tempfile.TemporaryDirectory() as folder, contextlib.closing(job(Path(folder))) as one:
            failed += _try(one, console)
    return int(failed > 0)


def _try(job: "_Job", console: Console) -> bool:
    """Attacks a job from its start to its end; tells whether it was the worse for it."""
    table = Table("while it", "port", "what comes", "answer", "told of the cluster", title=job.name)
    leaks = job.gather(table)
    _wait_for((job.directory / "task-0.json").exists, job)
    config = json.loads((job.directory / "task-0.json").read_text())
    addresses = config["cluster"]["worker"]
    port = int(addresses[0].rpartition(":")[2])
    _wait_for(lambda: port in job.ports(), job)
    leaks += _attack("starts", [port], addresses, table)
    (job.directory / "start").touch()
    steps = job.directory / "steps"
    _wait_for(steps.exists, job)
    leaks += _attack("trains", sorted(job.ports()), addresses, table)
    before = _number(steps)
    _wait_for(lambda: _number(steps) > before, job)
    (job.directory / "end").touch()
    status = max(process.wait(_WAIT_SECONDS) for process in job.processes)
    text = job.printed()
    raw = [letter for letter in text if not (letter.isprintable() or letter == "\n")]
    console.print(table)
    print(text if status or raw else text[-300:])
    console.print(
        f"{job.name} ended with status {status}; {leaks} answers told of the cluster; "
        f"{len(raw)} control characters and {len(text)} characters in the output."
    )
    return bool(status or leaks or raw)


def _number(path: Path) -> int:
    return int(path.read_text() or 0)  # it is being written


class _Job:
    """Processes that run the program in a folder."""

    name = ""

    def __init__(self, directory: Path) -> None:
        self.directory, self.processes = directory, list[subprocess.Popen]()
        self._output = directory / "output.txt"

    def start(self, *words: str, **environment: str) -> None:
        """Starts a launcher, or an agent."""
        with self._output.open("ab") as file:
            command = [sys.executable, "-m", "spmd.cli", "launch", *words, "--devices-per-worker"]
            self.processes.append(
                subprocess.Popen(
                    [*command, "1", "--max-restarts", "0", str(PROGRAM), str(self.directory)],
                    env={
                        **os.environ,
                        **{"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"},
                        **environment,
                    },
                    stdout=file,
                    stderr=subprocess.STDOUT,
                )
            )

    def gather(self, table: Table) -> int:
        """Attacks what listens before there are tasks; returns how many answers told of the cluster."""
        raise NotImplementedError

    def ports(self) -> set[int]:
        """The ports that the processes and those that they have started listen on."""
        return {port for process in self.processes for port in _ports(process.pid)}

    def printed(self) -> str:
        """Returns what they have printed."""
        return self._output.read_text(errors="replace")

    def close(self) -> None:
        """Ends them."""
        for process in self.processes:
            process.terminate()
            process.wait()


class _Launched(_Job):
    name = "The job of a launcher"

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.start("--workers", "2")

    def gather(self, table: Table) -> int:
        return 0  # the launcher listens nowhere


class _WithAgents(_Job):
    name = "The job of two agents"

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        (self._port,) = free_ports(1)
        self._token = secrets.token_hex(16)
        self._agent()

    def _agent(self) -> None:
        meet = ("--rendezvous", f"localhost:{self._port}", "--workers", "2:2")
        self.start(*meet, RAY_AUTH_TOKEN=self._token)

    def gather(self, table: Table) -> int:
        _wait_for(lambda: self._port in self.ports(), self)
        addresses = [f"127.0.0.1:{self._port}", socket.gethostname(), self._token]
        leaks = _attack("gathers", [self._port], addresses, table)
        self._agent()
        return leaks


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


def _wait_for(true: Callable[[], bool], job: _Job) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while not true():
        ended = any(process.poll() is not None for process in job.processes)
        if ended or time.monotonic() > deadline:
            sys.exit(f"The job has ended, or hangs:\n{job.printed()}")
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
