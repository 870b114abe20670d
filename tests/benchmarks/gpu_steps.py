"""Training steps on a GPU, against stock Keras on JAX, hand-written JAX and PyTorch.

Peers are those of this process's own Python; without PyTorch, its programs are left out.
"""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.benchmarks.compare import commands_of
from tests.benchmarks.turns import Command, measure, spread, started, times_as_fast
from tests.benchmarks.workloads import BY_HAND, KERAS, OURS, TORCH, Program

ROUNDS = 7
_ABOUT = (
    "Steps on one GPU, with their input from the host: a custom loop under `MirroredStrategy`, or `Model.fit`. Times are medians of turns, with quartiles; *times as fast* is "
    "how many times as fast ours is, round by round."
)
_ABOUT_TORCH = " PyTorch runs without `torch.compile`, in autocast to bfloat16 where the others train in `mixed_bfloat16`."


def _fit(name: str, torch: str | None = None) -> dict[str, Program]:
    programs = {OURS: Program(name, "jaxtribute"), KERAS: Program(name)}
    return programs | ({TORCH: Program(torch)} if torch else {})


WORKLOADS: Mapping[str, Mapping[str, Program]] = {
    "MNIST CNN, custom loop, batch 128": {
        OURS: Program("mnist.loop", "jaxtribute"),
        BY_HAND: Program("mnist.by_hand"),
    },
    "Autoencoder of dense layers, batch 128, Model.fit": _fit("dense.autoencoder"),
    "GPT-style transformer, 4 layers of 256, 8 texts of 128, Model.fit": _fit("attention.gpt"),
    "LSTM text classifier, 32 texts of 100, Model.fit": _fit("recurrent.lstm"),
    "U-Net, 8 pictures of 64 x 64, Model.fit": _fit("pictures.unet"),
    "ResNet50 in bfloat16, 64 pictures of 224 x 224, Model.fit": _fit(
        "accelerated.resnet", "torch_gpu.resnet"
    ),
    "Transformer in bfloat16, 12 layers of 768, 8 texts of 512, Model.fit": _fit(
        "accelerated.transformer", "torch_gpu.transformer"
    ),
}
# Products of float32 are rounded to TensorFloat-32, and those of bfloat16 more.
_TOLERANCE = 0.02


def about(rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns the page's first sentences, up to the machine.

    Args:
        rows: of the report.
    """
    measured = {row["model"] for row in rows}
    missing = "".join(f" Not measured yet: {name}." for name in WORKLOADS if name not in measured)
    torch = _ABOUT_TORCH if any(row["program"] == TORCH for row in rows) else ""
    return f"{_ABOUT}{torch}{missing} Measured by `python -m tests.benchmarks gpu_steps` on"


def find_gpu() -> str:
    """Names the GPU that JAX finds here, in a process of its own; empty, and a line that says so, if there is none."""
    code = "import jax; device = jax.devices()[0]; print(device.platform, device.device_kind)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    platform, _, kind = done.stdout.strip().partition(" ")
    if platform == "gpu":
        return kind
    print("gpu_steps is left out: JAX finds no GPU.")
    return ""


def gpu_steps(digits: str) -> Iterator[dict[str, object]]:
    """Measures each workload.

    Args:
        digits: the file of MNIST digits.

    Yields:
        Rows of the report, one for each workload and program.
    """
    for title, programs in WORKLOADS.items():
        commands = {
            name: [
                Command(arguments, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"})
                for arguments, _ in commands_of(program, 1, sys.executable, 0, digits)
            ]
            for name, program in programs.items()
            if name != TORCH or all(map(importlib.util.find_spec, ("torch", "torchvision")))
        }
        with started(commands, _TOLERANCE) as peers:
            times = measure(peers, ROUNDS)
        yield from rows_of(title, times)


def rows_of(title: str, times: Mapping[str, Sequence[float]]) -> Iterator[dict[str, object]]:
    """Makes rows of the report.

    Args:
        title: what was measured.
        times: seconds of each program in each round; the first program is ours.

    Yields:
        One row for each program.
    """
    ours = next(iter(times))
    for name, seconds in times.items():
        low, median, high = spread([1000 * one for one in seconds])
        least, faster, most = times_as_fast(times[ours], seconds)
        yield {
            "model": title,
            "program": name,
            "ms a step": f"{median:.3g} ({low:.3g} to {high:.3g})",
            "times as fast": ""
            if name == ours
            else f"**{faster:.2f}** ({least:.2f} to {most:.2f})",
        }
