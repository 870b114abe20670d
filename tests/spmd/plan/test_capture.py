"""Which program is the training step."""

import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.plan.capture import Capture, trains
from spmd.step import observe_compilation


@pytest.fixture
def programs():
    found = []
    end = observe_compilation(lambda program, options: found.append(program))
    yield found
    end()


def test_a_step_that_updates_numbers_trains(programs) -> None:
    weight = spmd.Variable(np.float32(1))

    def train() -> None:
        weight.value = weight.value * 2

    spmd.Step(train, spmd.make_mesh(["cpu:0"]))()
    assert list(map(trains, programs)) == [True]


@pytest.mark.parametrize("case", ["initialisation", "evaluation", "count", "nothing"])
def test_other_steps_do_not(programs, case) -> None:
    weight = spmd.Variable(np.float32(1))
    total = spmd.Variable(np.float32(0), kind="sum")
    count = spmd.Variable(np.int32(0))

    def step():
        if case == "initialisation":
            weight.value = jnp.ones(())
        if case == "evaluation":
            total.value = total.value + weight.value
        if case == "count":
            count.value = count.value + 1
        return weight.value

    spmd.Step(step, spmd.make_mesh(["cpu:0"]))()
    assert list(map(trains, programs)) == [False]


def test_programs_that_are_passed_are_remembered_once() -> None:
    taken = []
    capture = Capture("second", lambda program, options: taken.append(program.name))
    end = observe_compilation(capture)
    try:

        def first(x):
            return x

        def second(x):
            return x + 1

        mesh = spmd.make_mesh(["cpu:0"])
        for step in (spmd.Step(first, mesh), spmd.Step(first, mesh), spmd.Step(second, mesh)):
            step(jnp.ones(1))
    finally:
        end()
    assert (capture.passed, taken) == (["first"], ["second"])
