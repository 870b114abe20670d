"""`jaxtribute plan`, in this process and as one of its own; workers are real."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from spmd import cli
from spmd.errors import PlanError
from spmd.plan.command import plan, requests

MLP = str(Path(__file__).parent / "scripts" / "mlp.py")


def parsed(*words: str, arguments: tuple[str, ...] = ()) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    plan(parser)
    options = parser.parse_args(words)
    options.arguments = list(arguments)
    return options


def test_every_topology_is_compiled_with_every_batch() -> None:
    options = parsed(
        *("train.py", "--topology", "v5e:2x2", "--sweep", "v5e:2x2,v5e:4x4", "--batch", "8, 16"),
        arguments=("--devices={devices}", "{batch}"),
    )
    assert [(one.topology, one.arguments) for one in requests(options)] == [
        ("v5e:2x2", ("--devices=4", "8")),
        ("v5e:2x2", ("--devices=4", "16")),
        ("v5e:4x4", ("--devices=16", "8")),
        ("v5e:4x4", ("--devices=16", "16")),
    ]


def test_options_reach_every_request() -> None:
    (request,) = requests(parsed("train.py", "--topology", "cpu:1", "--step", "train", "--full"))
    assert (request.step, request.full) == ("train", True)


def test_a_topology_is_needed() -> None:
    with pytest.raises(PlanError, match="--topology v5e:16x16"):
        requests(parsed("train.py"))


def test_a_batch_needs_a_place() -> None:
    with pytest.raises(PlanError, match=r"-- --batch-size \{batch\}"):
        requests(parsed("train.py", "--topology", "cpu:1", "--batch", "8"))


def test_words_after_dashes_are_the_scripts(capfd, tmp_path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import sys\nprint('got', sys.argv[1:])\nsys.exit(3)\n")
    words = ["plan", str(script), "--topology", "cpu:2", "--", "--json", "{devices}", "--", "x"]
    assert cli.main(words) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert "got ['--json', '2', '--', 'x']" in err
    assert "jaxtribute plan: " in err
    assert "sys.exit(3)" in err


def test_standard_output_is_json_and_nothing_else() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "spmd.cli", "plan", MLP, "--topology", "cpu:2", "--json", "-"],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    found = json.loads(run.stdout)
    assert (found["step"], found["topology"], found["replicas"]) == ("train_step", "cpu:2", 2)
    assert "evaluated" in run.stderr


def test_a_person_gets_a_report(capsys, tmp_path) -> None:
    path, page = tmp_path / "plan.json", tmp_path / "plan.html"
    words = ["plan", f"{MLP}:make", "--topology", "cpu:2", "--json", str(path), "--html", str(page)]
    assert cli.main(words) == 0
    out = capsys.readouterr().out
    assert out.startswith("train_step on cpu:2")
    assert json.loads(path.read_text())["global_batch"] == 128
    assert "train_step on cpu:2" in page.read_text()


def test_a_topology_that_fails_is_left_out_of_a_sweep(capsys, tmp_path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        f"import runpy, jax\nassert jax.device_count() < 3\nrunpy.run_path({MLP!r}, run_name='__main__')\n"
    )
    assert cli.main(["plan", str(script), "--sweep", "cpu:1,cpu:2,cpu:3"]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("train_step on cpu:1")
    assert "cpu:3 is left out" in err
