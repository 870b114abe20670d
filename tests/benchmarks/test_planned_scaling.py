"""The page of steps that are planned for TPUs and GPUs."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from spmd.plan import Plan, plan
from spmd.topology.simulation import simulation_environment
from tests.benchmarks.planned_scaling import MODELS, draw, rows_of

ROOT = Path(__file__).parents[2]
_STEP = """
import numpy as np, spmd
weight = spmd.Variable(np.ones((8, 4), np.float32), name="weight")
def train(x):
    weight.value -= spmd.all_reduce(x.T @ (x @ weight.value))
for batch in spmd.distribute(np.ones((64, 8), np.float32), batch_size=64):
    spmd.Step(train)(batch)
"""


@pytest.fixture(scope="module")
def planned(tmp_path_factory) -> Plan:
    script = tmp_path_factory.mktemp("planned") / "train.py"
    script.write_text(_STEP)
    return plan(str(script), "v5e:2x2")


def test_topologies_are_compared_with_the_first(planned: Plan):
    assert planned.estimate
    slower = dataclasses.replace(
        planned.estimate, step_seconds=4 * planned.estimate.step_seconds, bound="interconnect"
    )
    larger = dataclasses.replace(planned, devices=16, topology="v5e:4x4", estimate=slower)
    first, second = rows_of("a model", "TPU v5e", [planned, larger])
    assert (first["chips"], first["share of one chip's speed"]) == (4, "1.00")
    assert first["sent by a chip, MB"] == f"{2 * 3 / 4 * 8 * 4 * 4 / 1e6:.3g}"
    assert (second["topology"], second["share of one chip's speed"]) == ("v5e:4x4", "0.25")
    assert second["bound by"] == "interconnect"


def test_the_chart_has_a_curve_for_each_model_and_chip(planned: Plan, tmp_path):
    rows = [
        row
        for title in MODELS
        for chip in ("TPU v5e", "H100")
        for row in rows_of(title, chip, [planned])
    ]
    draw(tmp_path / "chart.svg", rows)
    chart = (tmp_path / "chart.svg").read_text()
    for title in MODELS:
        for chip in ("TPU v5e", "H100"):
            assert f"{title.split(',')[0]}, {chip}" in chart


@pytest.mark.parametrize("model", MODELS.values())
def test_the_planned_scripts_state_their_models(model: str):
    script = ROOT / "tests" / "benchmarks" / "programs" / "planned.py"
    code = f"""
import runpy, sys
from frontends import tf
sys.argv[1:] = [{model!r}]
def fit(self, data, **kw):
    rows = next(iter(data))[0].shape[0]
    print(self.count_params(), rows)
tf.keras.Model.fit = fit
runpy.run_path({str(script)!r}, run_name="__main__")
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **simulation_environment(2, {})}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    parameters, rows = map(int, run.stdout.split())
    expected = {"resnet": (25_636_712, 2 * 64), "gpt": (134_238_464, 2 * 8)}
    assert (parameters, rows) == expected[model]
