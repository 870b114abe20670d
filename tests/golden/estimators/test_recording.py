"""The recording of estimators, and how results are held to it; test_estimators.py compares ours."""

import copy

import pytest

from tests.golden import recording
from tests.golden.compare import is_error
from tests.golden.estimators import SCENARIOS, programs
from tests.golden.estimators.compare import agrees

RECORDED = recording.load(recording.ESTIMATORS)
RUNS = {f"{one.name}@{setting}" for one in SCENARIOS.values() for setting in one.settings}


def test_every_recording_has_a_scenario():
    assert RECORDED.keys() == RUNS, "record anew: make golden-estimators"
    assert all(RECORDED.values())


def test_numbers_were_recorded_without_errors():
    groups = {one.name: one.group for one in SCENARIOS.values()}
    failed = {
        f"{run}/{case}": result["message"]
        for run, cases in RECORDED.items()
        for case, result in cases.items()
        if groups[run.partition("@")[0]] != "behaviour" and is_error(result)
    }
    assert failed == {}


@pytest.mark.parametrize("run", sorted(RUNS))
def test_a_result_agrees_with_itself(run):
    for case, result in RECORDED[run].items():
        assert agrees(case, copy.deepcopy(result), result)


def test_numbers_of_sgd_agree_more_closely():
    (case, losses), *_ = RECORDED["estimator.regression@none"].items()
    assert case == "sgd/losses"
    ours = [loss * (1 + 5e-5) for loss in losses]
    assert not agrees("sgd/losses", ours, losses)
    assert agrees("adam/losses", ours, losses)
    assert not agrees("adam/losses", [loss * (1 + 5e-4) for loss in losses], losses)


def test_every_program_is_run():
    texts = {path.stem for path in programs.PROGRAMS.iterdir()}
    assert {case.partition("/")[0] for case in RECORDED["estimator.programs@none"]} == texts
