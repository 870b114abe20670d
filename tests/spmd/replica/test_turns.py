"""Gradients through what replicas exchange, with the replicas' threads and without any."""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spmd.replica.turns import Turns, exchanged
from spmd.step.replica_threads import ReplicaThreads


def threads(replicas):
    return ReplicaThreads(replicas, lambda *_: None, lambda *_: None, contextlib.nullcontext)


def on_each(replicas, code):
    turns = threads(replicas)
    return turns.run([lambda: code(turns)] * replicas)


@pytest.mark.parametrize("replicas", [1, 3])
def test_each_gets_what_all_have(replicas):
    found = on_each(replicas, lambda t: exchanged(t, "x", [jnp.float32(t.index), jnp.int32(7)]))
    for one in found:
        assert [[float(x), int(n)] for x, n in one] == [[i, 7] for i in range(replicas)]


@pytest.mark.parametrize("replicas", [1, 3])
def test_what_all_make_of_a_value_counts_in_its_gradient(replicas):
    def gradient(turns: Turns):
        def loss(x):
            every = exchanged(turns, "x", [x, jnp.int32(1)])
            return sum((turns.index + 1) * (i + 1) * y**2 for i, (y, _) in enumerate(every))

        return jax.grad(loss)(jnp.float32(turns.index + 2))

    weights = sum(range(1, replicas + 1))
    expected = [weights * (i + 1) * 2 * (i + 2) for i in range(replicas)]
    np.testing.assert_allclose(on_each(replicas, gradient), expected)
