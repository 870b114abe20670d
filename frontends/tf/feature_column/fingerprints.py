"""Fingerprints that a program computes: of integers, as texts and as they are, and of several together.

Those of texts are computed on the host (`frontends/tf/_text_hashes.py`).
"""

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.feature_column.uint64 import UInt64

_K0, _K2 = 0xC3A5C85C97CB3127, 0x9AE16A3B2F90404F
_CAT = 0xC6A4A7935BD1E995
# Digits of the largest number, with a sign.
_WIDTH = 11
_POWERS = 10 ** np.arange(_WIDTH - 1, dtype=np.uint32)


# Compiled as wholes, for code that runs op by op.
@jax.jit
def combined(first: UInt64, second: UInt64) -> UInt64:
    """Combines two fingerprints, of which the first may be a key.

    Source: `FingerprintCat64` of TensorFlow, in `platform/fingerprint.h`.
    """
    multiplier = UInt64.constant(_CAT)
    result = first ^ multiplier ^ _shift_mix(second * multiplier) * multiplier
    return _shift_mix(_shift_mix(result * multiplier) * multiplier)


@jax.jit
def of_decimals(values: jax.Array) -> UInt64:
    """Returns the fingerprints of integers' texts, such as `"-12"`.

    Args:
        values: integers of at most 32 bits.

    Source: `tf.strings.as_string`, and FarmHash's `farmhashna::Hash64` of up to 16 bytes.
    """
    negative = values < 0
    size = jnp.where(negative, -values, values).astype(jnp.uint32)
    digits = 1 + (size[..., None] >= _POWERS[1:]).sum(-1, dtype=jnp.int32)
    length = digits + negative

    def byte(at: jax.Array) -> jax.Array:
        """Returns the bytes at some places from the left, of which all exist."""
        power = jnp.take(jnp.asarray(_POWERS), jnp.clip(length - 1 - at, 0, _WIDTH - 2))
        digit = size // power % 10 + ord("0")
        return jnp.where(negative & (at == 0), jnp.uint32(ord("-")), digit)

    def word(at: jax.Array) -> jax.Array:
        """Returns four bytes, the first as the lowest."""
        return sum((byte(at + i) << (8 * i) for i in range(1, 4)), byte(at))

    def words(at: jax.Array) -> UInt64:
        return UInt64(word(at + 4), word(at))

    start = jnp.zeros_like(length)
    multiplier = UInt64.constant(_K2) + UInt64.from_integers(length * 2)

    def short() -> UInt64:
        """Of one to three bytes."""
        y = byte(start) + (byte(length >> 1) << 8)
        z = length.astype(jnp.uint32) + (byte(length - 1) << 2)
        mixed = _small(y) * UInt64.constant(_K2) ^ _small(z) * UInt64.constant(_K0)
        return _shift_mix(mixed) * UInt64.constant(_K2)

    def middle() -> UInt64:
        """Of four to seven bytes."""
        first = UInt64.from_integers(length) + (_small(word(start)) << 3)
        return _pair(first, _small(word(length - 4)), multiplier)

    def long() -> UInt64:
        """Of eight to sixteen bytes."""
        a, b = words(start) + UInt64.constant(_K2), words(length - 8)
        c = b.rotated(37) * multiplier + a
        d = (a.rotated(25) + b) * multiplier
        return _pair(c, d, multiplier)

    return _where(length < 4, short(), _where(length < 8, middle(), long()))


def _pair(u: UInt64, v: UInt64, multiplier: UInt64) -> UInt64:
    a = _shift_mix((u ^ v) * multiplier)
    return _shift_mix((v ^ a) * multiplier) * multiplier


def _shift_mix(value: UInt64) -> UInt64:
    return value ^ value >> 47


def _small(low: jax.Array) -> UInt64:
    return UInt64(jnp.zeros_like(low), low)


def _where(condition: jax.Array, yes: UInt64, no: UInt64) -> UInt64:
    return UInt64(jnp.where(condition, yes.high, no.high), jnp.where(condition, yes.low, no.low))
