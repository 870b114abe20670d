"""Steps of functions that are made anew: which share a step, and which are dropped."""

import numpy as np
import pytest

import spmd


def cache_of(mesh, **options):
    return spmd.step.StepCache(lambda function, *context: spmd.Step(function, mesh), **options)


def test_a_lambda_made_anew_is_compiled_once(mesh_of):
    steps = cache_of(mesh_of(2))
    results = [float(steps.get(lambda x: x * 2)(np.float32(number))) for number in range(3)]
    assert results == [0, 2, 4]
    assert [step.trace_count for step in steps] == [1]


def test_the_context_tells_steps_apart(mesh_of):
    steps = cache_of(mesh_of(1))

    def function():
        return 1.0

    assert steps.get(function, "a") is steps.get(function, "a") is not steps.get(function, "b")


def test_the_step_unused_for_longest_is_dropped(mesh_of):
    steps = cache_of(mesh_of(1), max_steps=2, warn_after=99)
    first, second, _ = (steps.get(lambda number=number: number) for number in (1, 2, 3))
    assert len(steps) == 2
    assert second in list(steps)
    assert first not in list(steps)


def test_functions_bound_to_other_objects_again_and_again_warn(mesh_of):
    steps = cache_of(mesh_of(1), warn_after=2)

    def bound_to(thing):
        return lambda: thing

    steps.get(bound_to(object()))
    with pytest.warns(
        spmd.errors.RecompilationWarning, match=r"'<lambda>' 2 times.*closes over thing\)"
    ):
        steps.get(bound_to(object()))


def test_warnings_shorten_values(mesh_of):
    options = spmd.StepOptions(warn_after=2)
    step = spmd.Step(lambda image: 0, mesh_of(1), options=options)
    step(b"\xff" * 10_000)
    with pytest.warns(
        spmd.errors.RecompilationWarning, match=r"args\[0\] changed from b"
    ) as caught:
        step(b"\xfe" * 10_000)
    assert len(str(caught[0].message)) < 500
