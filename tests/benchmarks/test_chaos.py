"""What disturbs training is drawn at random, but the same again for a seed; and one run of it."""

import random
import signal

import numpy as np
import pytest

from tests.benchmarks import chaos


def test_every_task_phase_and_signal_comes_and_a_seed_repeats_it() -> None:
    blows = [blow for run in range(60) for blow in chaos.draw(random.Random(run))]
    assert {blow.task for blow in blows} == set(range(chaos.WORKERS))
    assert {blow.phase for blow in blows} == set(chaos.PHASES)
    assert {blow.number for blow in blows} == {signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP}
    assert chaos.draw(random.Random(7)) == chaos.draw(random.Random(7))


def test_weights_that_differ_are_found() -> None:
    expected = {"a": np.float32([1]), "b": np.float32([0.0])}
    assert chaos.difference(expected, expected) == ""
    assert chaos.difference({**expected, "b": np.float32([-0.0])}, expected) == "b differ"
    assert chaos.difference({"a": np.float32([1])}, expected) == "other arrays"


def test_a_run_may_take_longer_the_more_it_is_disturbed() -> None:
    kill = chaos.Blow(0, signal.SIGKILL, "step", 0, 0.0)
    stop = chaos.Blow(0, signal.SIGSTOP, "step", 0, 0.0)
    assert chaos.bound_of([], 20.0) == 30.0
    assert chaos.bound_of([kill], 20.0) == 60.0 + 6.0
    assert chaos.bound_of([kill, stop], 20.0) == 90.0 + 6.0 + 40.0
    start = chaos.Blow(0, signal.SIGSTOP, "start", 0, 0.0)
    assert chaos.bound_of([start], 20.0) == 60.0 + 80.0


@pytest.mark.slow
@pytest.mark.multiprocess
def test_a_run_that_is_disturbed_ends_alike(capfd: pytest.CaptureFixture[str]) -> None:
    assert chaos.main(["--runs", "1", "--seed", "3"]) == 0
    assert "1 of 1 runs ended in time" in capfd.readouterr().out
