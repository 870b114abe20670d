"""Do two operations compute the same?"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spmd.proof import same_operation


def last(function, *args):
    return jax.make_jaxpr(function)(*args).jaxpr.eqns[-1]


def loop(step, start=0.0, table=None):
    def turn(carry, x):
        return carry * step + (0 if table is None else jnp.asarray(table).sum()), x

    return lambda x: jax.lax.scan(turn, start, x)


ONE = jnp.ones(4)
SAME = [
    (loop(2.0), loop(2.0)),
    (lambda x: x.reshape(2, 2), lambda x: jnp.reshape(x, (2, 2))),
    (lambda x: jnp.pad(x, 1), lambda x: jnp.pad(x, 1)),
    (loop(2.0, table=np.arange(3.0)), loop(2.0, table=np.arange(3.0))),
]
OTHER = [
    (loop(2.0), loop(3.0)),
    (lambda x: x.reshape(2, 2), lambda x: x.reshape(4, 1)),
    (jnp.sin, jnp.cos),
    (lambda x: x.sum(), lambda x: x.max()),
    (lambda x: x.astype(jnp.int32), lambda x: x.astype(jnp.int8)),
    (lambda x: jax.lax.cumsum(x), lambda x: jax.lax.cumsum(x, reverse=True)),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same(one, other):
    assert same_operation(last(one, ONE), last(other, ONE))


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another(one, other):
    assert not same_operation(last(one, ONE), last(other, ONE))
