"""Arrays are described as they are saved."""

import jax
import jax.numpy as jnp
import numpy as np

from spmd.checkpoint.arrays import ArrayEntry, describe_array, saved_form


def test_an_array():
    entry = describe_array("w", jnp.zeros((2, 3), jnp.bfloat16))
    assert entry == ArrayEntry("w", (2, 3), "bfloat16")
    assert str(entry) == "bfloat16[2, 3]"


def test_random_keys_are_numbers():
    keys = jax.random.split(jax.random.key(0), 4)
    entry = describe_array("keys", keys)
    assert entry == ArrayEntry("keys", (4, 2), "uint32", "threefry2x32")
    assert str(entry) == "uint32[4, 2], keys of threefry2x32"
    np.testing.assert_array_equal(saved_form(keys), jax.random.key_data(keys))
    host = np.zeros(2)
    assert saved_form(host) is host
