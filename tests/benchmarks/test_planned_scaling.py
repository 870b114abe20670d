"""The page of steps that are planned for TPUs and GPUs."""

import dataclasses

import pytest

from spmd.plan import Plan, plan
from spmd.plan.estimate import Estimate
from spmd.topology.simulation import simulation_environment
from tests.benchmarks import planned_scaling, report
from tests.benchmarks.planned_scaling import ABOUT, MODELS, TOPOLOGIES, draw, rows_of

_STEP = """
import numpy as np, spmd
weight = spmd.Variable(np.ones((1024, 1024), np.float32), name="weight")
def train(x):
    weight.value -= spmd.all_reduce(x.T @ (x @ weight.value))
for batch in spmd.distribute(np.ones((64, 1024), np.float32), batch_size=64):
    spmd.Step(train)(batch)
"""
_ESTIMATE = Estimate(0.001, 0.002, 0.0005, 0.0015, 0.0025, "HBM", 0.1)


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """A plan for processors, whose compiler is everywhere, with times that are made up: these have none."""
    script = tmp_path_factory.mktemp("planned") / "train.py"
    script.write_text(_STEP)
    return dataclasses.replace(plan(str(script), "cpu:4"), estimate=_ESTIMATE)


def test_topologies_are_compared_with_the_first(planned: Plan) -> None:
    slower = dataclasses.replace(_ESTIMATE, step_seconds=0.01, bound="interconnect")
    larger = dataclasses.replace(planned, devices=16, topology="v5e:4x4", estimate=slower)
    first, second = rows_of("a model", "TPU v5e", [planned, larger])
    assert (first["chips"], first["share of one chip's speed"]) == (4, "1.00")
    assert first["sent by a chip, MB"] == f"{2 * 3 / 4 * 1024 * 1024 * 4 / 1e6:.0f}"
    assert (first["overlapped collectives, ms"], first["exposed collectives, ms"]) == ("1.5", "0.5")
    assert (second["topology"], second["step, ms at least"]) == ("v5e:4x4", "10")
    assert (second["share of one chip's speed"], second["bound by"]) == ("0.25", "interconnect")


def test_the_page_says_that_nothing_ran_and_shows_a_curve_for_each(
    planned: Plan, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planned_scaling, "check_compiler", lambda topology: None)
    monkeypatch.setattr(
        planned_scaling,
        "plan",
        lambda script, topology, arguments: dataclasses.replace(planned, topology=topology),
    )
    rows = list(planned_scaling.planned_scaling())
    assert [row["topology"] for row in rows] == 2 * [
        one for each in TOPOLOGIES.values() for one in each
    ]
    draw(tmp_path / "planned_scaling.svg", rows)
    report.write(tmp_path / "planned_scaling.json", "planned_scaling", "2 cores", rows)
    report.write_page(tmp_path, "planned_scaling", ABOUT)
    page = (tmp_path / "planned_scaling.md").read_text()
    assert page.startswith("# Planned scaling\n\n**Estimated, not measured**")
    chart = (tmp_path / "planned_scaling.svg").read_text()
    for title in MODELS:
        for chip in TOPOLOGIES:
            assert f"{title.split(',')[0]}, {chip}" in chart


def test_chips_without_a_compiler_are_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(topology: object) -> None:
        raise planned_scaling.PlanError("Install it.")

    monkeypatch.setattr(planned_scaling, "check_compiler", refuse)
    assert list(planned_scaling.planned_scaling()) == []
    assert "H100 is left out. Install it." in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "parameters", "rows"), [("resnet", 25_636_712, 64), ("gpt", 134_238_464, 8)]
)
def test_planned_models_have_their_size_and_rows_for_each_device(
    run_python, model: str, parameters: int, rows: int
) -> None:
    script = planned_scaling.PROGRAM
    code = f"""
import runpy, sys
from frontends import tf
sys.argv[1:] = [{model!r}]
def fit(self, data, **keywords):
    print(self.count_params(), next(iter(data))[0].shape[0])
tf.keras.Model.fit = fit
runpy.run_path({str(script)!r}, run_name="__main__")
"""
    done = run_python("-c", code, environment=simulation_environment(2, {}))
    assert list(map(int, done.stdout.split())) == [parameters, 2 * rows]
