"""Scripts and factories in a worker process: what it takes of them, and what it says where there is nothing to take."""

from pathlib import Path

import pytest

from spmd.errors import PlanError
from spmd.plan import Request, compile_step

MLP = str(Path(__file__).parent / "scripts" / "mlp.py")
WIDTH = 256


def test_a_script_is_planned_at_its_first_training_step(capfd) -> None:
    facts = compile_step(Request(MLP, "cpu:2", ("--epochs", "1")))
    assert facts.name == "train_step"
    assert facts.notes == ("Run before it, on simulated devices: initialise, evaluate.",)
    out, err = capfd.readouterr()
    assert out == ""
    assert "arguments ['--epochs', '1']" in err
    assert f"evaluated {64 * WIDTH} start 1.0" in err
    assert "trained" not in err


def test_a_step_is_named(tmp_path) -> None:
    assert compile_step(Request(MLP, "cpu:2", step="evaluate")).name == "evaluate"
    script = tmp_path / "train.py"
    script.write_text("import spmd\nspmd.Step(lambda x: x + 1)(1.0)\n")
    with pytest.raises(PlanError, match=r"without the step 'train'. It called '<lambda>'"):
        compile_step(Request(str(script), "cpu:2", step="train"))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("print('done')", "ended without a training step"),
        ("raise ValueError('no data')", "raised ValueError: no data before a training step"),
        ("import sys; sys.exit(3)", r"sys\.exit\(3\) before a training step"),
        ("import os; os._exit(0)", "ended with status 0 before it had an answer"),
        ("import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
    ],
)
def test_a_script_without_a_step_is_an_error(tmp_path, capfd, code, message) -> None:
    script = tmp_path / "train.py"
    script.write_text(code)
    with pytest.raises(PlanError, match=message):
        compile_step(Request(str(script), "cpu:2"))
    err = capfd.readouterr().err
    assert ("Traceback" in err) == ("ValueError" in code)
    assert "runpy" not in err


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere.py", "There is no file 'nowhere.py'"),
        (f"{MLP}:nothing", "has no function 'nothing'"),
        (f"{MLP}:make_nothing", "returned int, but should return a step"),
        ("no_such_module:make", "raised ModuleNotFoundError"),
    ],
)
def test_a_target_that_is_none_is_an_error(target, message) -> None:
    with pytest.raises(PlanError, match=message):
        compile_step(Request(target, "cpu:2"))


def test_fewer_devices_than_there_are_are_noted(tmp_path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import numpy as np, spmd\n"
        "w, mesh = spmd.Variable(np.float32(1)), spmd.make_mesh(['cpu:0', 'cpu:1'])\n"
        "def train(x):\n"
        "    w.value = w.value - spmd.all_reduce((w.value * x).sum())\n"
        "for batch in spmd.distribute(np.ones(3, np.float32), mesh, batch_size=3):\n"
        "    spmd.Step(train, mesh)(batch)\n"
    )
    facts = compile_step(Request(str(script), "cpu:4"))
    assert (facts.devices, facts.global_batch) == (2, 3)
    assert "uses 2 of the 4 devices" in facts.notes[0]
    assert "3 rows, which are padded to 4" in facts.notes[1]
