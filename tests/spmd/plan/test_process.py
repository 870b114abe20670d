"""Real worker processes: scripts and factories, planned for processors, which need no other compiler."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from spmd.errors import PlanError
from spmd.plan import Request, StepFacts, compile_step

SCRIPTS = Path(__file__).parent / "scripts"
MLP = str(SCRIPTS / "mlp.py")
WIDTH = 256


@pytest.fixture(scope="module")
def planned() -> StepFacts:
    return compile_step(Request(f"{MLP}:make", "cpu:2"))


def test_a_factory_is_planned(planned) -> None:
    assert (planned.name, planned.devices, planned.replicas) == ("train_step", 2, 2)
    assert (planned.global_batch, planned.steps_per_call) == (128, 1)
    assert planned.seconds.keys() == {"trace", "lower", "compile"}
    assert planned.hlo.startswith("HloModule")
    assert planned.notes == ()


def test_buffers_are_named_by_what_they_are(planned) -> None:
    sizes: dict[str, int] = {}
    for buffer in planned.buffers:
        sizes[buffer.kind] = sizes.get(buffer.kind, 0) + buffer.bytes
    parameters = 2 * (WIDTH * WIDTH + WIDTH) * 4
    # Adam: two moments; the counts of Adam and of the optimizer.
    assert sizes == {
        "parameters": parameters,
        "optimizer": 2 * parameters + 8,
        "input": 64 * WIDTH,
    }
    kernels = [one for one in planned.buffers if one.name == "model.layers[0].kernel"]
    assert [(one.dtype, one.shape) for one in kernels] == [("float32", (WIDTH, WIDTH))]


def test_memory_is_that_of_the_program_that_runs(planned) -> None:
    import spmd
    from tests.spmd.plan.scripts import mlp

    with pytest.MonkeyPatch.context() as patch:
        mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
        patch.setattr(spmd, "make_mesh", lambda: mesh)
        step, (batch,) = mlp.make()
    memory = step.lower(batch).compile().memory_analysis()
    assert planned.memory.arguments == memory.argument_size_in_bytes
    assert planned.memory.aliased == memory.alias_size_in_bytes
    assert planned.memory.temporaries == memory.temp_size_in_bytes


@pytest.mark.multiprocess
def test_what_a_script_has_started_ends_with_it(tmp_path) -> None:
    script, pid = tmp_path / "train.py", tmp_path / "pid"
    script.write_text(
        "import pathlib, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(pid)!r}).write_text(str(child.pid))\n"
    )
    with pytest.raises(PlanError):
        compile_step(Request(str(script), "cpu:1"))
    child = Path("/proc", pid.read_text(), "stat")
    deadline = time.monotonic() + 30
    while child.exists() and child.read_text().split()[2] != "Z":  # until init has collected it
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_nothing_of_a_plan_is_left_in_this_process() -> None:
    code = (
        "import sys, spmd.plan\n"
        f"facts = spmd.plan.compile_step(spmd.plan.Request({MLP + ':make'!r}, 'cpu:2'))\n"
        "from spmd import _jax_internals\n"
        "print(facts.devices, _jax_internals.backend_is_running(), 'libtpu' in sys.modules, 'mlp' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["2", "False", "False", "False"]
