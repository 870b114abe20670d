"""What XLA makes of steps for a TPU and for GPUs, looked at, since no such machine is at hand."""

import re
from pathlib import Path

import pytest

from spmd.lowering import cpu
from spmd.plan import Request, StepFacts, compile_step, make_plan
from tests.spmd.plan.compilers import needs_gpu_compiler, needs_tpu_compiler

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = Path(__file__).parent / "scripts"
MLP = str(SCRIPTS / "mlp.py")
EXAMPLES = ROOT / "examples"

TPU = pytest.param("v5e:2x2", marks=needs_tpu_compiler)
GPU = pytest.param("h100:4", marks=needs_gpu_compiler)

# Functions that stand for operations on a processor, by the names that profiles show.
REWRITES = [
    value.__name__
    for name, value in vars(cpu).items()
    if callable(value)
    and getattr(value, "__module__", "").startswith("spmd.lowering.")
    and getattr(value, "__module__", "") not in ("spmd.lowering.cpu", "spmd.lowering.memory")
    and name.islower()
]


def rewrites(facts: StepFacts) -> set[str]:
    """The rewrites for processors whose names stand in the program."""
    return {name for name in REWRITES if f"jit({name})" in facts.hlo}


def all_reduces(facts: StepFacts) -> int:
    return len(re.findall(r" all-reduce(?:-start)?\(", facts.hlo))


def inputs(facts: StepFacts) -> str:
    """The line that describes what the program takes."""
    (line,) = re.findall(r"entry_computation_layout=\{\((.*?)\)->", facts.hlo)
    return line


def check(facts: StepFacts) -> None:
    """Holds a program to what every program for an accelerator must be."""
    assert rewrites(facts) == set()
    assert not re.search(r"\bf64\[", facts.hlo)
    assert "callback" not in facts.hlo
    # Between slices of a TPU the host sends what the devices reduce.
    alone = [line for line in facts.hlo.splitlines() if "xla_megascale" not in line]
    assert not re.search(r"outfeed|infeed| send\(| recv\(", "\n".join(alone))
    # Every variable that the step writes gets the memory of its old value.
    state = sum(one.bytes for one in facts.buffers if one.kind in ("parameters", "optimizer"))
    assert state > 1e6
    assert facts.memory.aliased >= state
    assert all_reduces(facts) > 0


@pytest.fixture(scope="module")
def mlp():
    """Plans the perceptron, once for each topology."""
    known: dict[tuple[str, str], StepFacts] = {}

    def plan(factory: str, topology: str) -> StepFacts:
        if (factory, topology) not in known:
            known[factory, topology] = compile_step(Request(f"{MLP}:{factory}", topology))
        return known[factory, topology]

    return plan


@pytest.mark.parametrize("topology", [TPU, GPU])
def test_a_perceptron(mlp, topology) -> None:
    facts = mlp("make", topology)
    check(facts)
    # Bytes travel to the device, and become numbers there.
    assert re.search(r"u8\[64,256\]", inputs(facts))
    assert not re.search(r"f32\[64,256\]", inputs(facts))
    assert (facts.devices, facts.replicas) == (4, 4)


@pytest.mark.parametrize("topology", [TPU, GPU])
def test_gradients_of_more_layers_travel_together(mlp, topology) -> None:
    few, many = (mlp(factory, topology) for factory in ("make", "make_deep"))
    assert len(many.buffers) > 3 * len(few.buffers)
    assert all_reduces(many) == all_reduces(few) <= 3


@needs_gpu_compiler
def test_gpus_reduce_while_they_compute(mlp) -> None:
    facts = mlp("make_deep", "h100:4")
    assert " all-reduce(" not in facts.hlo
    assert facts.hlo.count(" all-reduce-start(") == facts.hlo.count(" all-reduce-done(")


@needs_tpu_compiler
def test_memory_holds_what_the_step_takes(mlp) -> None:
    """A TPU pads arrays, so that they take more than their elements."""
    facts = mlp("make", "v5e:2x2")
    taken = sum(one.bytes for one in facts.buffers)
    assert taken <= facts.memory.arguments <= 1.2 * taken


@needs_tpu_compiler
def test_slices_are_reduced_over(mlp) -> None:
    facts = mlp("make", "2xv5e:2x2")
    assert (facts.devices, facts.slices) == (8, 2)
    check(facts)
    # A slice reduces and scatters among its chips, so that each sends only its part to the other slice.
    assert " reduce-scatter(" in facts.hlo
    assert '_xla_megascale_transfer_type="ALL_REDUCE"' in facts.hlo


@pytest.mark.slow
@pytest.mark.parametrize("topology", [TPU, GPU])
@pytest.mark.parametrize(
    ("script", "arguments"),
    [("mnist.py", ("--batch-size", "256")), ("keras_mnist.py", ("--output", "{output}"))],
)
def test_examples(topology, script, arguments, tmp_path) -> None:
    words = [word.replace("{output}", str(tmp_path)) for word in arguments]
    facts = compile_step(Request(str(EXAMPLES / script), topology, ("--devices", "4", *words)))
    check(facts)
    assert facts.global_batch == (256 if script == "mnist.py" else 128)
    assert all_reduces(facts) <= 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "topology",
    [
        pytest.param("v6e:8x8", marks=needs_tpu_compiler),
        pytest.param("h100:8", marks=needs_gpu_compiler),
    ],
)
def test_resnet50(topology) -> None:
    facts = compile_step(Request(str(SCRIPTS / "resnet50.py"), topology))
    check(facts)
    assert re.search(r"u8\[32,224,224,3\]", inputs(facts))
    parameters = sum(one.bytes for one in facts.buffers if one.kind == "parameters")
    assert parameters == 4 * 25_583_592  # those that are trained
    # XLA splits what travels into several, by their bytes; 161 arrays have gradients.
    assert all_reduces(facts) <= 10
    sent = make_plan(facts).sent_bytes
    assert sent == pytest.approx(2 * (1 - 1 / facts.devices) * parameters, rel=0.01)


@pytest.mark.slow
def test_processors_have_rewrites_so_that_others_can_lack_them() -> None:
    facts = compile_step(
        Request(str(EXAMPLES / "mnist.py"), "cpu:2", ("--devices", "2", "--batch-size", "256"))
    )
    assert rewrites(facts)
