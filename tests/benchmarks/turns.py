"""Programs in processes of their own that take turns, so that a noisy machine slows all of them alike.

Each program starts, prepares, and waits. A turn is one run of what is measured: only one program runs at a
time, in another order every round, and two programs are compared by their times of the same round.
"""

import contextlib
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
_MARK = "turns: "  # libraries print to stdout too
_FIRST_STEP = "turns, first step"


class Ready(NamedTuple):
    """What a program says before its first turn.

    Attributes:
        amount: what a turn does: images, batches; times are compared per unit.
        check: a number that all programs that do the same agree on; None of one that cannot have the others' weights.
    """

    amount: int
    check: float | None


class Command(NamedTuple):
    """One process: what is run, and what is added to its environment."""

    arguments: Sequence[str]
    environment: Mapping[str, str]


def serve(ready: Ready, turn: Callable[[], None]) -> None:
    """Waits for turns and takes them, until there are no more; the program's side.

    Args:
        ready: what a turn is.
        turn: takes it; ends when all is computed.
    """
    print(_MARK + json.dumps(ready), flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        turn()
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(_MARK + json.dumps([seconds, peak]), flush=True)


def end_first_step() -> None:
    """Says that the first step is computed; the program's side."""
    print(_FIRST_STEP, flush=True)


def seconds_to_first_step(command: Command) -> float:
    """Runs a program from its start to the end of its first step, and no further.

    Args:
        command: the program.

    Returns:
        How long that took.

    Raises:
        RuntimeError: it ended before.
    """
    start = time.perf_counter()
    with _process(command, subprocess.DEVNULL) as process:
        assert process.stdout
        found = any(line.startswith(_FIRST_STEP) for line in process.stdout)
        seconds = time.perf_counter() - start
        process.kill()
    if not found:
        raise RuntimeError(f"{command.arguments} ended before its first step")
    return seconds


def _process(command: Command, errors: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command.arguments,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **command.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )


class Peer:
    """The processes of one program, which are ready for their turns.

    Attributes:
        megabytes: the most memory that one of them has had so far.
    """

    def __init__(self, commands: Sequence[Command]) -> None:
        """Starts the processes, and waits until all are ready.

        Args:
            commands: one for each process; several take their turns together.
        """
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  until `close`
        self._processes = [_process(command, self._errors) for command in commands]
        self.megabytes = 0.0
        try:
            self.ready = Ready(*self._hear()[0])
        except RuntimeError:
            self.close()
            raise

    def turn(self) -> float:
        """Takes a turn.

        Returns:
            Seconds per unit of what a turn does; of the slowest process.
        """
        for process in self._processes:
            assert process.stdin
            process.stdin.write("go\n")
            process.stdin.flush()
        told = self._hear()
        self.megabytes = max(peak for _, peak in told) / 1024
        return max(seconds for seconds, _ in told) / self.ready.amount

    def close(self) -> None:
        """Ends the processes."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.communicate()
        self._errors.close()

    def _hear(self) -> list:
        return [self._line(process) for process in self._processes]

    def _line(self, process: subprocess.Popen[str]) -> Any:
        assert process.stdout
        for line in process.stdout:
            if line.startswith(_MARK):
                return json.loads(line.removeprefix(_MARK))
        self._errors.seek(0)
        raise RuntimeError(
            f"{process.args} ended ({process.wait()}):\n{self._errors.read()[-3000:]}"
        )


@contextlib.contextmanager
def started(
    programs: Mapping[str, Sequence[Command]], tolerance: float = 1e-3
) -> Iterator[dict[str, Peer]]:
    """Starts programs one after another, and ends them all.

    Args:
        programs: names, and the processes of each.
        tolerance: by which their checks may differ, relative to the first one's.

    Yields:
        The programs, ready.

    Raises:
        RuntimeError: a program failed, or computes something else than the first one.
    """
    peers: dict[str, Peer] = {}
    try:
        for name, commands in programs.items():
            peers[name] = Peer(commands)
        first = next(iter(peers.values())).ready.check
        assert first is not None
        for name, peer in peers.items():
            check = peer.ready.check
            # Not `>`: NaN is no answer.
            if check is not None and not abs(check - first) <= tolerance * abs(first):
                raise RuntimeError(
                    f"{name} computes {check}, and {next(iter(peers))} {first}: programs that do not compute the same "
                    "cannot be compared."
                )
        yield peers
    finally:
        for peer in peers.values():
            peer.close()


def measure(peers: Mapping[str, Peer], rounds: int) -> dict[str, list[float]]:
    """Lets programs take turns.

    Args:
        peers: the programs.
        rounds: how often each has its turn.

    Returns:
        For every program, the seconds per unit of its turns.
    """
    times: dict[str, list[float]] = {name: [] for name in peers}
    for peer in peers.values():
        peer.turn()  # untimed: caches, branch predictors, and what a program does only once
    for _ in range(rounds):
        for name in random.sample(list(peers), len(peers)):
            times[name].append(peers[name].turn())
    return times


class Spread(NamedTuple):
    """A median and the quartiles around it."""

    low: float
    median: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Returns the quartiles of some numbers; at least two."""
    return Spread(*statistics.quantiles(values, n=4, method="inclusive"))


def times_as_fast(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """Compares two programs round by round.

    Args:
        ours: seconds of one.
        theirs: seconds of the other, in the same rounds.

    Returns:
        How many times as fast the one is.
    """
    return spread([b / a for a, b in zip(ours, theirs, strict=True)])
