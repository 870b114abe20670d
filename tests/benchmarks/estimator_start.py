"""How long whole programs with estimators take, from their start to their end, where tracing and compiling are most of it."""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.compare import rows_of
from tests.benchmarks.workloads import OURS, TENSORFLOW

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "wide_and_deep": "Census wide and deep",
    "network": "Census DNNClassifier",
    "images": "MNIST CNN",
}


def estimator_start(peers: str, rounds: int = 3) -> Iterator[dict[str, object]]:
    """Measures programs that begin with an empty cache.

    Args:
        peers: the Python that has TensorFlow 2.15.
        rounds: how often each runs.

    Yields:
        Rows of the table: of time on the clock, and of processor time, which other programs beside do not lengthen as much.
    """
    for program, title in PROGRAMS.items():
        clock: dict[str, list[float]] = {OURS: [], TENSORFLOW: []}
        processor: dict[str, list[float]] = {OURS: [], TENSORFLOW: []}
        for _ in range(rounds):
            for name in random.sample(list(clock), len(clock)):
                python = sys.executable if name == OURS else peers
                seconds, busy = _seconds(python, program, name.lower())
                clock[name].append(seconds)
                processor[name].append(busy)
        whole = f"{title}, Estimator, 3 rounds of train and evaluate from the start"
        yield from rows_of(whole, 1, clock, {TENSORFLOW: 1 / 1.2})
        yield from rows_of(f"{whole}, processor time", 1, processor, {})


def _seconds(python: str, program: str, front_end: str) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as directory:
        environment = {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": directory}
        start, before = time.perf_counter(), os.times()
        subprocess.run(
            [python, "-m", "tests.benchmarks.programs.rounds", program, front_end],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        after = os.times()
        busy = after.children_user + after.children_system
        return time.perf_counter() - start, busy - before.children_user - before.children_system
