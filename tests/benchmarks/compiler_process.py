"""What it saves to compile in another process: `python -m tests.benchmarks.compiler_process gpt unet`.

Prints seconds to the end of the first step, with an empty cache, and the most memory that all processes of the
script had together until then: medians of three starts each, in turns.
"""

import os
import random
import statistics
import sys
import tempfile
import threading
from pathlib import Path

from tests.benchmarks.digits import write_digits
from tests.benchmarks.turns import Command, seconds_to_first_step
from tests.benchmarks.workloads import MODELS, OURS

_ROUNDS = 3
_LOOK_SECONDS = 0.02
_MODES = {"in the script's process": "0", "in another one": "1"}


class _Memory:
    """The most memory that the children of this process, and theirs, have at a time, in megabytes."""

    def __init__(self) -> None:
        self.most = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "_Memory":
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE") / 2**20
        while not self._over.wait(_LOOK_SECONDS):
            pages = sum(map(_resident, _children(os.getpid())))
            self.most = max(self.most, pages * page)


def _children(process: int) -> list[int]:
    found: list[int] = []
    try:
        for path in Path(f"/proc/{process}/task").glob("*/children"):
            found += map(int, path.read_text().split())
    except OSError:  # it has ended
        return []
    return [*found, *(one for child in found for one in _children(child))]


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0


def main(names: list[str]) -> None:
    """Measures some of the models of the comparison."""
    with tempfile.TemporaryDirectory() as directory:
        digits = f"{directory}/digits.npz"
        write_digits(digits)
        for name in names:
            arguments = MODELS[name].programs[OURS].arguments(sys.executable, 1, digits)
            found: dict[str, list[tuple[float, float]]] = {mode: [] for mode in _MODES}
            for _ in range(_ROUNDS):
                for mode in random.sample(list(_MODES), len(_MODES)):
                    with tempfile.TemporaryDirectory() as cache, _Memory() as memory:
                        variables = {
                            "XDG_CACHE_HOME": cache,
                            "JAXTRIBUTE_COMPILER_PROCESS": _MODES[mode],
                        }
                        seconds = seconds_to_first_step(Command(arguments, variables))
                    found[mode].append((seconds, memory.most))
            for mode, rounds in found.items():
                seconds, most = map(statistics.median, zip(*rounds, strict=True))
                print(f"{name}, compiled {mode}: {seconds:.1f} s, {most:,.0f} MB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
