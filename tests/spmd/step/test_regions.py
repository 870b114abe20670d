"""Parts of a step that are traced by themselves."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.step.regions import RegionState, strong


def test_a_region_tells_what_it_wrote_and_leaves_the_state_as_it_was() -> None:
    read, written = spmd.Variable(jnp.float32(1)), spmd.Variable(jnp.float32(2))
    found = []

    def function(x):
        state = RegionState()

        def code(y):
            written.value = read.value + y
            return {"twice": y * 2}

        region = state.trace(code, [x])
        held = [read.value, written.value]
        found.append((region.written, len(state.before), region.structure))
        assert all(any(one is other for other in held) for one in state.before)
        (twice,), after = region(x)
        state.write(sorted(region.written), [after[i] for i in sorted(region.written)])
        return twice

    step = spmd.Step(function, spmd.make_mesh(["cpu:0"]))
    assert float(step(jnp.float32(5))) == 10
    ((indices, size, structure),) = found
    assert (len(indices), size, structure) == (1, 2, jax.tree.structure({"twice": 0}))
    assert (float(read.value), float(written.value)) == (1, 6)


def test_a_variable_made_in_a_region_can_be_used_after_it() -> None:
    held = {}

    def function(x):
        def make():
            if "count" not in held:
                with jax.ensure_compile_time_eval():
                    held["count"] = spmd.Variable(jnp.float32(0), name="count")
                held["count"]._made_in_step()
            held["count"].value = held["count"].value + x
            return 0

        spmd.step.cond(x > 0, make, make)
        return held["count"].value * 1

    step = spmd.Step(function, spmd.make_mesh(["cpu:0"]))
    assert [float(step(jnp.float32(x))) for x in (2, 3)] == [2, 5]


@pytest.mark.parametrize("value", [1, 2.0, True, np.float32(3)])
def test_strong_types_do_not_give_way(value) -> None:
    array = strong(value)
    assert not array.weak_type
    assert array.dtype == jnp.asarray(value).dtype
