"""Disturbs training at random, again and again, and compares what it leaves with undisturbed training.

    python -m tests.benchmarks chaos --runs 60

Each run is `jaxtribute launch --workers 3` on MNIST. A task drawn at random gets SIGKILL, SIGTERM or SIGSTOP while it starts,
compiles, steps, saves, restores or evaluates; two thirds of the runs are disturbed twice. The weights, the optimizer's
state and the accuracy must be those of a run that nobody disturbed, bit for bit, and no run may take longer than its bound.
The seed makes a run repeatable as far as what is sent to whom in which phase.
"""

import argparse
import contextlib
import dataclasses
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from tests.benchmarks.digits import write_digits

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "tests" / "benchmarks" / "programs" / "interrupted.py"
WORKERS = 3
PHASES = ("start", "restore", "compile", "step", "save", "evaluate")
# JAXTRIBUTE_WATCHDOG_SECONDS, which caps how long a task may be silent, and --grace-seconds.
_WATCHDOG_SECONDS, _GRACE_SECONDS = 20, 5
# JAXTRIBUTE_START_TIMEOUT: a task that is stopped before the others have met it is one that does not start.
_START_SECONDS = 60
# How long the others may take to end after each signal, by docs/failures.md; a stopped task is killed after the grace.
_BOUNDS = {
    signal.SIGKILL: 1.0,
    signal.SIGTERM: 4.0,
    signal.SIGSTOP: _WATCHDOG_SECONDS + 10.0 + _GRACE_SECONDS,
}
_LOOK_SECONDS = 0.005


@dataclasses.dataclass(frozen=True)
class Blow:
    """A signal that a task gets.

    Attributes:
        task: index of the worker.
        number: the signal.
        phase: what the task does then.
        turn: how many times the task begins that before.
        delay: seconds from the beginning of the phase.
    """

    task: int
    number: signal.Signals
    phase: str
    turn: int
    delay: float

    def __str__(self) -> str:
        return f"{self.number.name} to worker {self.task} in {self.phase}"


def draw(random_numbers: random.Random) -> list[Blow]:
    """Draws the blows of one run."""
    return [
        Blow(
            random_numbers.randrange(WORKERS),
            random_numbers.choice([*_BOUNDS]),
            phase := random_numbers.choice(PHASES),
            random_numbers.randrange({"step": 25, "save": 3, "evaluate": 2}.get(phase, 1)),
            random_numbers.random() * (2.0 if phase in ("start", "compile") else 0.05),
        )
        for _ in range(random_numbers.choice([1, 2, 2]))
    ]


def main(words: Sequence[str]) -> int:
    """Runs the runs; returns 0 if all ended as they must."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks chaos",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="+", metavar="RUN", help="do these runs again")
    options = parser.parse_args(words)
    table = Table("run", "disturbed by", "starts", "seconds", "of at most", "result")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        digits = f"{folder}/digits.npz"
        write_digits(digits)
        for name in ("first", "undisturbed"):  # the first one fills the caches
            expected = _run(Path(folder, name), digits, [])
        if expected.trouble:
            print(expected.output, file=sys.stderr)
            return 1
        runs = options.only or range(options.runs)
        for run in runs:
            blows = draw(random.Random(f"{options.seed} {run}"))
            found = _run(Path(folder, str(run)), digits, blows)
            bound = bound_of(blows, expected.seconds)
            trouble = found.trouble or difference(found.weights, expected.weights)
            if not trouble and found.seconds > bound:
                # The machine may be slower than it was: what does a run take that nobody disturbs?
                now = _run(Path(folder, f"{run}-undisturbed"), digits, [])
                bound = max(bound, bound_of(blows, now.seconds))
                trouble = "took too long" if found.seconds > bound else ""
            if trouble:
                failed += 1
                print(f"---- run {run}\n{found.output}", file=sys.stderr)
            came = "; ".join(map(str, blows[: found.blows])) or "nothing"
            result = trouble or "the same weights"
            print(f"{run}: {came}: {result}, {found.seconds:.0f} s", flush=True)
            table.add_row(
                *(str(run), came, str(found.starts)),
                *(f"{found.seconds:.0f}", f"{bound:.0f}", result),
            )
    console = Console(width=120)
    console.print(table)
    console.print(
        f"{len(runs) - failed} of {len(runs)} runs ended in time with the weights of the undisturbed one, "
        f"which took {expected.seconds:.0f} s."
    )
    return int(failed > 0)


def bound_of(blows: Sequence[Blow], undisturbed_seconds: float) -> float:
    """Returns how long a run may take."""
    # Starting is slower while tasks of the last attempt end: half as long again.
    seconds = 1.5 * undisturbed_seconds * (1 + len(blows))
    stops = sum(blow.number is signal.SIGSTOP and blow.phase == "start" for blow in blows)
    seconds += stops * (_START_SECONDS - _WATCHDOG_SECONDS)
    return seconds + sum(_BOUNDS[blow.number] + _GRACE_SECONDS for blow in blows)


@dataclasses.dataclass(frozen=True)
class _Run:
    """What became of a run.

    Attributes:
        seconds: how long it took.
        starts: how often task 0 started.
        blows: how many of the blows came.
        weights: what it left.
        output: what it printed.
        trouble: why it is none to compare; empty if it ended well.
    """

    seconds: float
    starts: int
    blows: int
    weights: dict[str, np.ndarray]
    output: str
    trouble: str = ""


def _run(directory: Path, digits: str, blows: Sequence[Blow]) -> _Run:
    directory.mkdir()
    output = directory / "output.txt"
    began, sent = time.monotonic(), 0
    with output.open("wb") as file:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "spmd.cli", "launch", "--workers", str(WORKERS)),
                *("--devices-per-worker", "1", "--max-restarts", str(2 * len(blows))),
                *("--backoff-seconds", "0", "--grace-seconds", str(_GRACE_SECONDS)),
                *(str(PROGRAM), digits, str(directory)),
            ],
            cwd=directory,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "JAX_PLATFORMS": "cpu",
                "JAXTRIBUTE_WATCHDOG_SECONDS": str(_WATCHDOG_SECONDS),
                "JAXTRIBUTE_START_TIMEOUT": str(_START_SECONDS),
            },
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        phases = _Phases(directory)
        for blow in blows:
            task = phases.wait(blow, process)
            if task is None:
                break
            time.sleep(blow.delay)
            with contextlib.suppress(ProcessLookupError):
                os.kill(task, blow.number)
                sent += 1
        try:
            status = process.wait(1800)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
            status = None
    seconds = time.monotonic() - began
    begun = directory / "phases-0.txt"
    starts = begun.read_text().count("start ") if begun.exists() else 0
    text = output.read_text(errors="replace")
    weights = directory / "weights.npz"
    if status is None or status != 0 or not weights.exists():
        trouble = "never ended" if status is None else f"ended with status {status}"
        return _Run(seconds, starts, sent, {}, text, trouble)
    with np.load(weights) as loaded:
        return _Run(seconds, starts, sent, dict(loaded), text)


class _Phases:
    """Reads what tasks say that they begin."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._seen = [0] * WORKERS  # lines of each task that an earlier blow has seen

    def wait(self, blow: Blow, launcher: subprocess.Popen) -> int | None:
        """Waits until a task begins the phase of a blow; returns its process, or None if the run ended before."""
        while launcher.poll() is None:
            lines = [line.split() for line in self._lines(blow.task)[self._seen[blow.task] :]]
            processes = [int(process) for phase, process in lines if phase == blow.phase]
            if len(processes) > blow.turn:
                self._seen = [len(self._lines(task)) for task in range(WORKERS)]
                return processes[blow.turn]
            time.sleep(_LOOK_SECONDS)
        return None

    def _lines(self, task: int) -> list[str]:
        path = self._directory / f"phases-{task}.txt"
        return path.read_text().rpartition("\n")[0].splitlines() if path.exists() else []


def difference(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> str:
    """Names the arrays that are not the same to the bit; empty if there are none."""
    if found.keys() != expected.keys():
        return "other arrays"
    different = [name for name in expected if found[name].tobytes() != expected[name].tobytes()]
    return f"{', '.join(different)} differ" if different else ""
