"""Which outputs of a step are made of the number of rows in a block?"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spmd.proof import counting_outputs, unlike_sizes


def counts(function, rows=4):
    def trace(rows):
        closed = jax.make_jaxpr(function)(jnp.ones((rows, 3)), jnp.ones(rows, bool), jnp.ones(3))
        # As in a step, whose constants are inputs of one replica's program.
        jaxpr = closed.jaxpr.replace(
            constvars=[], invars=[*closed.jaxpr.constvars, *closed.jaxpr.invars]
        )
        return closed, jaxpr

    (first, one), (second, other) = trace(rows), trace(rows + 3)
    known = len(first.consts)
    flags = [*[False] * known, True, True, False]
    return counting_outputs(first, one, second, other, rows=flags, constants=known)


def mean_of_valid(x, valid):
    return jnp.where(valid, x[:, 0], 0).sum() / jnp.maximum(valid.sum(), 1)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, valid, w: mean_of_valid(x, valid),
        lambda x, valid, w: jax.grad(lambda w: mean_of_valid(x * w, valid))(w),
        lambda x, valid, w: jax.nn.softmax(x @ jnp.outer(w, w)),
        lambda x, valid, w: (jnp.arange(len(x)) < valid.sum()).any(),
        lambda x, valid, w: jax.lax.map(lambda row: row * w, x),
        lambda x, valid, w: w.mean() + x.shape[1],
        lambda x, valid, w: jnp.take_along_axis(x, jnp.argmax(x, 1)[:, None], 1),
        lambda x, valid, w: jax.random.uniform(jax.random.key(0), (len(x), 2)),
    ],
)
def test_steps_that_do_not_count(function):
    assert not any(counts(function))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, valid, w: x.shape[0],
        lambda x, valid, w: w * x.shape[0],
        lambda x, valid, w: x.mean(0),
        lambda x, valid, w: mean_of_valid(x, valid) * x.size,
        lambda x, valid, w: jnp.ones_like(x).sum(),
        lambda x, valid, w: jax.jit(lambda x: x.shape[0] * 1.0)(x),
        lambda x, valid, w: jax.lax.scan(lambda n, row: (n + 1, None), 0, x)[0],
        lambda x, valid, w: jax.lax.fori_loop(0, len(x), lambda i, n: n + w, w),
        lambda x, valid, w: sum(x[i].sum() for i in range(len(x))),
        lambda x, valid, w: w * jnp.asarray(np.full(2, x.shape[0]))[0],
        lambda x, valid, w: w[0] ** x.shape[0],
    ],
)
def test_steps_that_count(function):
    assert any(counts(function))


def test_only_what_is_made_of_the_number():
    assert counts(lambda x, valid, w: (x * 2, w / x.shape[0], w)) == [False, True, False]


def test_sizes_that_nothing_else_has():
    jaxpr = jax.make_jaxpr(lambda x: (x @ jnp.ones((5, 6))).sum())(jnp.ones((4, 5))).jaxpr
    assert unlike_sizes(jaxpr, [4, 4, 9]) == [7, 7, 10]
