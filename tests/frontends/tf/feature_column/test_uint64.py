"""64-bit integers as pairs of words, against Python's."""

import random

import jax.numpy as jnp
import numpy as np
import pytest

from frontends.tf.feature_column.uint64 import UInt64

_ALL = (1 << 64) - 1
_DRAWN = random.Random(0)
A = [0, 1, _ALL, 1 << 32, (1 << 32) - 1, *(_DRAWN.getrandbits(64) for _ in range(50))]
B = [_ALL, 0, _ALL, (1 << 32) - 1, 1 << 63, *(_DRAWN.getrandbits(64) for _ in range(50))]


def made(numbers):
    words = np.array([(one >> 32, one & 0xFFFFFFFF) for one in numbers], np.uint32)
    return UInt64(jnp.asarray(words[:, 0]), jnp.asarray(words[:, 1]))


def plain(numbers):
    pairs = zip(numbers.high.tolist(), numbers.low.tolist(), strict=True)
    return [high << 32 | low for high, low in pairs]


def test_operators_wrap_around():
    a, b = made(A), made(B)
    pairs = list(zip(A, B, strict=True))
    assert plain(a + b) == [(x + y) & _ALL for x, y in pairs]
    assert plain(a * b) == [(x * y) & _ALL for x, y in pairs]
    assert plain(a ^ b) == [x ^ y for x, y in pairs]
    assert plain(a | b) == [x | y for x, y in pairs]


@pytest.mark.parametrize("by", [1, 31, 32, 33, 47, 63])
def test_shifts(by):
    assert plain(made(A) >> by) == [one >> by for one in A]
    assert plain(made(A) << by) == [one << by & _ALL for one in A]


@pytest.mark.parametrize("by", [25, 37, 43])
def test_rotations(by):
    assert plain(made(A).rotated(by)) == [(one >> by | one << (64 - by)) & _ALL for one in A]


@pytest.mark.parametrize("count", [1, 2, 7, 1000, 1 << 16, 1_000_003, 2**31 - 1])
def test_remainders(count):
    assert (made(A) % count).tolist() == [one % count for one in A]


def test_integers_and_constants():
    found = UInt64.from_integers(jnp.array([-1, 0, 5, -(2**31)]))
    assert plain(found) == [_ALL, 0, 5, _ALL + 1 - 2**31]
    constant = UInt64.constant(0xDECAFCAFFE)
    assert int(constant.high) << 32 | int(constant.low) == 0xDECAFCAFFE
