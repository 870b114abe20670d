"""The page of steps on a GPU."""

import json
import math
import subprocess

import pytest

from tests.benchmarks import gpu_steps, report
from tests.benchmarks.gpu_steps import ABOUT, WORKLOADS, find_gpu, rows_of
from tests.benchmarks.turns import Command, started
from tests.benchmarks.workloads import KERAS, OURS


def test_rows_compare_round_by_round():
    first, second = rows_of("a model", {OURS: [0.001, 0.002], KERAS: [0.002, 0.004]})
    assert first == {
        "model": "a model",
        "program": OURS,
        "ms a step": "1.5 (1.25 to 1.75)",
        "times as fast": "",
    }
    assert second["times as fast"] == "**2.00** (2.00 to 2.00)"


def test_every_workload_has_ours_first():
    assert {next(iter(programs)) for programs in WORKLOADS.values()} == {OURS}


def test_without_a_gpu_it_says_so(monkeypatch, capsys):
    answers = iter(["cpu cpu\n", "gpu NVIDIA H200\n"])
    done = lambda *_, **__: subprocess.CompletedProcess([], 0, next(answers), "")  # noqa: E731
    monkeypatch.setattr(gpu_steps.subprocess, "run", done)
    assert find_gpu() == ""
    assert "JAX finds no GPU" in capsys.readouterr().out
    assert find_gpu() == "NVIDIA H200"


@pytest.mark.parametrize("at_once", [False, True])
def test_programs_that_compute_something_else_are_refused(at_once):
    def program(check):
        ready = json.dumps([1, check])
        return [Command(["python3", "-c", f"print('turns: {ready}', flush=True); input()"], {})]

    with started({"a": program(1.0), "b": program(1.01)}, 0.02, at_once=at_once) as peers:
        assert list(peers) == ["a", "b"]
    with started({"a": program(1.0), "b": program(math.nan)}, at_once=at_once) as peers:
        assert math.isnan(peers["b"].ready.check)
    others = {"a": program(1.0), "b": program(1.1)}
    with (
        pytest.raises(RuntimeError, match=r"b computes 1\.1, and a 1\.0"),
        started(others, 0.02, at_once=at_once),
    ):
        pass


def test_the_page(tmp_path):
    rows = list(rows_of("a model", {OURS: [0.001, 0.002], KERAS: [0.002, 0.004]}))
    report.write(tmp_path / "gpu_steps.json", "gpu_steps", "NVIDIA H200; a machine", rows)
    report.write_page(tmp_path, "gpu_steps", ABOUT)
    page = (tmp_path / "gpu_steps.md").read_text()
    assert "on NVIDIA H200; a machine." in page
    assert "| a model | Keras on JAX | 3 (2.5 to 3.5) | **2.00** (2.00 to 2.00) |" in page
