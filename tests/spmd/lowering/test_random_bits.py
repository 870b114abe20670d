"""Random bits in fewer dimensions: the bits that JAX draws."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.spmd.lowering.rewrites import both

KEY = jax.random.key(7)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32"])
@pytest.mark.parametrize("shape", [(), (7,), (3, 5), (2, 1, 4), (8, 16), (5, 1001)], ids=str)
def test_the_bits_are_those_of_jax(shape, dtype):
    (plain,), (better,), taken = both(lambda key: jax.random.bits(key, shape, dtype), KEY)
    assert taken == ["flat_random_bits"]
    assert (better.shape, better.dtype) == (shape, dtype)
    np.testing.assert_array_equal(better, plain)


def test_dropout_in_a_loop_drops_the_same():
    def run(key, x):
        def step(x, key):
            return jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x * 2, 0), x.sum()

        return jax.lax.scan(step, x, jax.random.split(key, 3))

    plain, better, taken = both(run, KEY, jnp.ones((4, 4)))
    assert "flat_random_bits" in taken
    for expected, actual in zip(plain, better, strict=True):
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    ("draw", "key"),
    [
        (lambda key: jax.random.bits(key, (0, 6)), KEY),
        (jax.vmap(lambda key: jax.random.bits(key, (2, 3))), jax.random.split(KEY, 2)),
        (lambda key: jax.random.bits(key, (2, 3)), jax.random.key(7, impl="rbg")),
    ],
    ids=["empty", "several keys", "another generator"],
)
def test_what_stays(draw, key):
    plain, better, taken = both(draw, key)
    assert taken == []
    np.testing.assert_array_equal(better[0], plain[0])


def test_bits_that_do_not_go_by_position_stay():
    with jax.threefry_partitionable(False):
        _, _, taken = both(lambda key: jax.random.bits(key, (2, 3)), KEY)
    assert taken == []
