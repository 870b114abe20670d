"""Programs as XLA wrote them, shortened, and facts made of them.

Each comes from the step of a small network over `x @ w0 @ w1`, in bfloat16 of 128 x 128 (`tpu_fsdp`: four layers of 1024 x
1024). `many` is five steps in a loop, `fsdp` gathers its parameters, `permute` uses other collectives, float64 and a
callback. TPUs: libtpu 0.0.52 for v5e:2x2 (`fsdp`: v5e:4x4); GPUs: XLA of jax 0.10.2 for eight H100; processors: four.
"""

from pathlib import Path

from spmd.plan.facts import Buffer, Memory, StepFacts
from spmd.plan.hlo import HloProgram, parse_hlo

DATA = Path(__file__).parent / "data"


def text_of(name: str) -> str:
    """The text of a program."""
    return (DATA / f"{name}.txt").read_text()


def program_of(name: str) -> HloProgram:
    """A program."""
    return parse_hlo(text_of(name))


def facts_of(program: str = "tpu_many", **changes) -> StepFacts:
    """Facts of a step of four replicas on TPUs, with changes."""
    fields = {
        "name": "train",
        "topology": "v5e:2x2",
        "chip": "v5e",
        "devices": 4,
        "replicas": 4,
        "slices": 1,
        "global_batch": 512,
        "steps_per_call": 5,
        "jax_version": "0.10.2",
        "seconds": {"trace": 0.1, "lower": 0.2, "compile": 1.5},
        "memory": Memory(131072, 66560, 65536, 212992, 1208320),
        "buffers": (
            Buffer("w", "parameters", 65536, "bfloat16", (2, 128, 128)),
            Buffer("x", "input", 32768, "bfloat16", (512, 128)),
            Buffer("<y> & z", "input", 32768, "bfloat16", (512, 128)),
        ),
        "compiler_cost": {"flops": 21905408.0, "bytes accessed": 1716736.0},
        "model_flops": 5 * 5 * 2 * 128**3,
        "elementwise_flops": 5e6,
        "hlo": text_of(program),
        "sources": {"/home/user/train.py:22": "x = jnp.tanh(x @ w)  # <b>"},
        "notes": ("a <note>",),
        "flops_by_type": {"bfloat16": 5 * 5 * 2 * 128**3},
    }
    return StepFacts(**{**fields, **changes})
