"""How long programs take to start: the import of the front end, and a start with programs of the last one."""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.benchmarks.compare import rows_of

ROOT = Path(__file__).parents[2]
# The example, up to the end of its first step.
FIRST_STEP = """
import os, runpy, sys
import jax
from frontends.tf.function import Function
call = Function.__call__
def first(self, *arguments, **named):
    jax.block_until_ready(call(self, *arguments, **named))
    os._exit(0)
Function.__call__ = first
sys.path.insert(0, "examples")
sys.argv = ["examples/mnist.py"]
runpy.run_path("examples/mnist.py", run_name="__main__")
raise SystemExit("It has ended without a step.")
"""


def startup(rounds: int = 9) -> Iterator[dict[str, object]]:
    """Measures starts.

    Args:
        rounds: how often each program starts.

    Yields:
        Rows of the table.
    """
    imports = {
        "from frontends import tf": "from frontends import tf",
        "import jax, flax.nnx, optax": "import jax, flax.nnx, optax",
    }
    times: dict[str, list[float]] = {name: [] for name in imports}
    for _ in range(rounds + 1):
        for name in random.sample(list(imports), len(imports)):
            times[name].append(_seconds(imports[name], {}))
    # The first round read the files from the disk.
    times = {name: seconds[1:] for name, seconds in times.items()}
    yield from rows_of("Import of the front end", 1, times, {list(imports)[1]: 1 / 1.2})

    starts: dict[str, list[float]] = {"second start": [], "first start, empty cache": []}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as directory:
            for name in reversed(starts):
                starts[name].append(_seconds(FIRST_STEP, {"XDG_CACHE_HOME": directory}))
    yield from rows_of("examples/mnist.py to its first step", 2, starts, {list(starts)[1]: 2})


def _seconds(code: str, environment: Mapping[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - start
