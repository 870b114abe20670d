"""Rows of data, and rows of padding."""

import jax.numpy as jnp
import numpy as np

import spmd
from frontends.tf._valid_rows import valid


def test_a_step_tells_rows_of_padding(mesh_of):
    mesh = mesh_of(2)

    def step(batch):
        flags, other = valid(batch), valid(jnp.zeros((9, 2)))
        assert (flags.shape, other.shape) == ((2, 1), ())
        return spmd.all_reduce(flags.sum())

    batches = list(spmd.distribute(np.ones((7, 3), np.float32), mesh, batch_size=4))
    assert [int(spmd.Step(step, mesh)(batch)) for batch in batches] == [4, 3]


def test_outside_of_a_step_all_rows_are_data():
    assert valid(jnp.zeros((3, 2)))
