"""A step ahead of time: traced, lowered, compiled."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd


def test_a_compiled_step_runs_with_the_state_and_refuses_other_shapes(mesh_of):
    total = spmd.Variable(jnp.zeros(2), name="total")

    def add(x):
        total.value = total.value + x
        return total.value

    step = spmd.Step(add, mesh_of(2))
    traced = step.trace(jax.ShapeDtypeStruct((2,), jnp.float32))
    assert traced.state_names == ("total",)
    assert traced.jaxpr.outvars
    compiled = traced.lower().compile()
    np.testing.assert_array_equal(total.value, [0, 0])
    np.testing.assert_array_equal(compiled(jnp.ones(2)), [1, 1])
    np.testing.assert_array_equal(step(jnp.ones(2)), [2, 2])
    assert step.trace_count == 1
    with pytest.raises(spmd.errors.BatchError, match="other shapes"):
        compiled(jnp.ones(3))
