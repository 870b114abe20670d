"""Objects find their saved counterparts by name, and differences are listed."""

import jax.numpy as jnp

from spmd import Variable
from spmd.checkpoint import Checkpoint
from spmd.checkpoint.matching import match, mismatches
from spmd.checkpoint.snapshot import take_snapshot


def matched(saved: Checkpoint, present: Checkpoint):
    return match(take_snapshot(saved).nodes, 0, present)


def test_objects_without_a_counterpart_are_left_out():
    found = matched(Checkpoint(a=1, b={"c": 2}), Checkpoint(b={"c": 0, "d": 0}, e=3))
    assert [each.saved.path for each in found] == ["", "b", "b/c"]


def test_differences_are_listed():
    saved = Checkpoint(a=1, v=Variable(jnp.zeros(2)), t=Variable({"x": jnp.zeros(1)}), same=2)
    present = Checkpoint(
        a=jnp.zeros(1),
        v=Variable(jnp.zeros(3)),
        t=Variable({"x": jnp.zeros(1), "y": jnp.zeros(1)}),
        same=5,
    )
    assert [line for found in matched(saved, present) for line in mismatches(found)] == [
        "  a: expected an array, found a number or string",
        "  v: expected float32[3], found float32[2]",
        "  t: expected 2 arrays, found 1",
    ]
