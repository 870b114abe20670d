"""What a step says about its last call."""

import jax.numpy as jnp
import numpy as np

import spmd
from spmd.step import Explanation


def test_a_step_that_has_not_run_explains_nothing(mesh_of):
    assert spmd.Step(lambda x: x, mesh_of(1)).explain() is None


def test_the_three_programs(mesh_of):
    step = spmd.Step(lambda x: spmd.all_reduce(x.sum()), mesh_of(2))
    found = []
    for rows in (4, 2, 3):
        (batch,) = spmd.distribute(np.ones(rows, np.float32), mesh_of(2), batch_size=4)
        assert float(step(batch)) == rows
        found.append((step.explain().path, step.explain().rows, step.explain().block_rows))
    assert found == [
        ("masked", ((2, 2),), (2,)),
        ("exact", ((1, 1),), (1,)),
        ("unequal", ((2, 1),), (2,)),
    ]
    assert "never asks which rows are valid" in step.explain().why


def test_why_padding_is_masked(mesh_of):
    step = spmd.Step(lambda x: spmd.all_reduce(spmd.average_loss(x)), mesh_of(2))
    why = []
    for rows in (4, 3, 4):
        (batch,) = spmd.distribute(np.ones(rows, np.float32), mesh_of(2), batch_size=4)
        step(batch)
        why.append(step.explain().why)
    assert why == [
        "no row is padding",
        "padding does not change what it computes",
        "no row is padding",
    ]


def test_a_step_without_a_batch(mesh_of):
    step = spmd.Step(lambda: jnp.ones(()), mesh_of(1))
    step()
    assert str(step.explain()).startswith("The step '<lambda>' got no rows on its replicas")
    assert step.explain() == Explanation("<lambda>", "masked", (), (), "no row is padding")
