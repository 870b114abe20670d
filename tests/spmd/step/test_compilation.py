"""Who hears of programs that are about to be compiled."""

import jax.numpy as jnp
import pytest

import spmd
from spmd.step import observe_compilation


def test_each_program_is_announced_once_with_its_options() -> None:
    heard = []
    end = observe_compilation(lambda program, options: heard.append((program.name, options)))

    def double(x):
        return 2 * x

    options = spmd.StepOptions(compiler_options={"xla_cpu_enable_fast_math": False})
    step = spmd.Step(double, spmd.make_mesh(["cpu:0"]), options=options)
    try:
        for size in (1, 1, 2):
            step(jnp.ones(size))
        step.lower(jnp.ones(3))
        assert len(heard) == 2
        step.lower(jnp.ones(3)).compile()
    finally:
        end()
    spmd.Step(double, step.mesh)(jnp.ones(1))
    assert heard == [("double", {"xla_cpu_enable_fast_math": False})] * 3


def test_what_an_observer_raises_ends_the_call_before_anything_is_compiled() -> None:
    class Stopped(Exception):
        pass

    def stop(program, options) -> None:
        raise Stopped

    weight = spmd.Variable(jnp.ones(()))

    def train():
        weight.value = weight.value + 1

    step = spmd.Step(train, spmd.make_mesh(["cpu:0"]))
    end = observe_compilation(stop)
    with pytest.raises(Stopped):
        step()
    end()
    assert float(weight.value) == 1
    step()
    assert float(weight.value) == 2
