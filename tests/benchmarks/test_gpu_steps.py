"""The page of steps on a GPU."""

import subprocess

from tests.benchmarks import gpu_steps, report
from tests.benchmarks.gpu_steps import WORKLOADS, about, find_gpu, rows_of
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


def test_the_page(tmp_path):
    rows = list(rows_of("a model", {OURS: [0.001, 0.002], KERAS: [0.002, 0.004]}))
    report.write(tmp_path / "gpu_steps.json", "gpu_steps", "NVIDIA H200; a machine", rows)
    report.write_page(tmp_path, "gpu_steps", about)
    page = (tmp_path / "gpu_steps.md").read_text()
    assert "Not measured yet: MNIST CNN, custom loop, batch 128." in page
    assert "torch.compile" not in page
    assert "on NVIDIA H200; a machine." in page
    assert "| a model | Keras on JAX | 3 (2.5 to 3.5) | **2.00** (2.00 to 2.00) |" in page
