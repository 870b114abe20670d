"""What it saves to schedule threads as batch work: `python -m tests.benchmarks.batch_threads`.

Prints milliseconds a step without and with it, of both in turns, and how many times as fast a step is with it. `--busy 2` has two other
programs keep the cores busy meanwhile.
"""

import argparse
import contextlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from tests.benchmarks.compare import commands_of
from tests.benchmarks.digits import write_digits
from tests.benchmarks.turns import Command, measure, started
from tests.benchmarks.workloads import Program

_ROUNDS = 9
_MODES = {"without": "0", "with": "1"}  # of JAXTRIBUTE_BATCH_THREADS
# Title, program, processes, devices of each.
_SHARED = (
    ("MNIST CNN, 2 processes", "mnist.workers", 2, 1),
    ("MNIST CNN, 4 processes", "mnist.workers", 4, 1),
    ("MNIST CNN, 8 processes", "mnist.workers", 8, 1),
    ("MNIST CNN, 2 devices", "mnist.loop", 1, 2),
    ("MNIST CNN, 8 devices", "mnist.loop", 1, 8),
    ("U-Net, 2 devices", "pictures.unet", 1, 2),
    ("GPT-style transformer, 2 devices", "attention.gpt", 1, 2),
)


@contextlib.contextmanager
def _busy(count: int) -> Iterator[None]:
    """Starts programs that compute until the end of the block."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def main() -> None:
    """Measures all, one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--busy", type=int, default=0, help="programs beside (default: none)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        digits = f"{directory}/digits.npz"
        write_digits(digits)
        for title, name, processes, devices in _SHARED:
            commands = {
                mode: [
                    Command(one.arguments, {**one.environment, "JAXTRIBUTE_BATCH_THREADS": value})
                    for one in commands_of(
                        Program(name, "jaxtribute"), processes, "", devices, digits
                    )
                ]
                for mode, value in _MODES.items()
            }
            with started(commands) as programs, _busy(arguments.busy):
                times = measure(programs, _ROUNDS)
            without, batch = (statistics.median(times[mode]) * 1e3 for mode in _MODES)
            gain = statistics.median(a / b for a, b in zip(*map(times.get, _MODES), strict=True))
            print(
                f"{title}: {without:.3g} and {batch:.3g} ms, {gain:.2f} times as fast", flush=True
            )


if __name__ == "__main__":
    main()
