"""How far a pass has come, without what was read but not used."""

import numpy as np
import pytest

import spmd
from frontends import tf
from spmd.input.position import mark_used, without_unused


def distributed():
    return iter(spmd.distribute(np.arange(6), spmd.make_mesh(["cpu:0"]), batch_size=2))


@pytest.mark.parametrize("make", [distributed, lambda: iter(tf.data.Dataset.range(3))])
def test_what_was_read_since_the_mark_is_left_out(make):
    batches = make()

    def counts():
        with without_unused():
            unused = batches.get_state()["batches"]
        return unused, batches.get_state()["batches"]

    assert counts() == (0, 0)
    next(batches)
    next(batches)
    assert counts() == (0, 2)
    mark_used()
    assert counts() == (2, 2)
    next(batches)
    assert counts() == (2, 3)
    mark_used()
    batches.set_state({"position": batches.get_state()["position"], "batches": 1})
    assert counts() == (1, 1)
    next(batches)
    assert counts() == (1, 2)


def test_a_pass_that_has_begun_without_use_begins_anew():
    batches = spmd.distribute(np.arange(4), spmd.make_mesh(["cpu:0"]), batch_size=2)
    for _ in batches:
        mark_used()
    next(iter(batches))
    with without_unused():
        assert batches.get_state()["batches"] == 0
