"""Fingerprints that programs compute; tests/golden compares crosses with TensorFlow's."""

import random

import jax
import jax.numpy as jnp

from frontends.tf._text_hashes import fingerprint
from frontends.tf.feature_column import fingerprints
from frontends.tf.feature_column.uint64 import UInt64


def test_integers_have_the_fingerprints_of_their_texts():
    drawn = random.Random(0)
    numbers = [drawn.randint(-(10**size), 10**size) for size in range(10) for _ in range(20)]
    numbers += [2**31 - 1, -(2**31), 0, -1]

    @jax.jit
    def words(values):
        found = fingerprints.of_decimals(values)
        return found.high, found.low

    high, low = words(jnp.array(numbers))
    pairs = zip(high.tolist(), low.tolist(), strict=True)
    assert [upper << 32 | lower for upper, lower in pairs] == [
        fingerprint(b"%d" % one) for one in numbers
    ]


def test_combining_depends_on_the_order():
    one, two = UInt64.constant(1), UInt64.constant(2)
    first, second = fingerprints.combined(one, two), fingerprints.combined(two, one)
    assert (int(first.high), int(first.low)) != (int(second.high), int(second.low))
