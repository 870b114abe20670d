"""Random numbers on the host: those that JAX draws, by few programs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spmd.lowering import host_draw

KEYS = {"typed": jax.random.key(5), "words": jnp.asarray([0, 5], jnp.uint32)}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (2, 1, 3), (65, 64)], ids=str)
def test_the_numbers_are_those_of_jax(shape, key):
    drawn = host_draw(jax.random.normal, key, shape)
    np.testing.assert_array_equal(drawn, jax.random.normal(key, shape))
    assert (drawn.shape, drawn.dtype) == (shape, np.float32)


def test_shapes_share_programs():
    sizes = []

    def sample(key, shape, dtype):
        sizes.append(shape)
        return jax.random.uniform(key, shape, dtype)

    for shape in [(3,), (5, 5), (128, 128), (2**14 + 1,), (2**8, 2**10), (2**22 + 1,)]:
        host_draw(sample, KEYS["typed"], shape)
    assert sizes == [(2**14,), (2**18,), (2**22 + 1,)]


def test_limits_are_no_part_of_a_program():
    traced = []

    def sample(key, shape, dtype, low, high):
        traced.append(shape)
        return jax.random.uniform(key, shape, dtype, low, high)

    key = KEYS["typed"]
    for limit in (0.1, 0.2):
        drawn = host_draw(sample, key, (3, 5), np.float32, -limit, limit)
        expected = jax.random.uniform(key, (3, 5), np.float32, -limit, limit)
        np.testing.assert_array_equal(drawn, expected)
    assert len(traced) == 1


def test_what_jax_has_to_draw_itself():
    key = KEYS["typed"]
    assert host_draw(jax.random.normal, key, (3,), jnp.bfloat16) is None
    assert host_draw(jax.random.normal, jax.random.key(5, impl="rbg"), (3,)) is None
    with jax.threefry_partitionable(False):
        assert host_draw(jax.random.normal, key, (3,)) is None
    traced = []
    jax.make_jaxpr(lambda key: traced.append(host_draw(jax.random.normal, key, (3,))))(key)
    assert traced == [None]
