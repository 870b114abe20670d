"""Unsigned integers of 64 bits, as two words of 32: JAX has no others while its 64-bit types are off, nor have TPUs."""

import dataclasses

import jax
import jax.numpy as jnp

_HALF = 0xFFFF
_WORD = 0xFFFFFFFF


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class UInt64:
    """An array of unsigned 64-bit integers; its operators wrap around.

    Attributes:
        high: upper words, uint32.
        low: lower words, of the same shape.
    """

    high: jax.Array
    low: jax.Array

    @classmethod
    def constant(cls, value: int) -> "UInt64":
        """Makes one number of Python's."""
        return cls(jnp.uint32(value >> 32 & _WORD), jnp.uint32(value & _WORD))

    @classmethod
    def from_integers(cls, values: jax.Array) -> "UInt64":
        """Converts integers of at most 32 bits, negative ones as two's complement."""
        low = values.astype(jnp.uint32)
        return cls(jnp.where(values < 0, jnp.uint32(_WORD), jnp.uint32(0)), low)

    def __add__(self, other: "UInt64") -> "UInt64":
        low = self.low + other.low
        return UInt64(self.high + other.high + (low < other.low).astype(jnp.uint32), low)

    def __xor__(self, other: "UInt64") -> "UInt64":
        return UInt64(self.high ^ other.high, self.low ^ other.low)

    def __or__(self, other: "UInt64") -> "UInt64":
        return UInt64(self.high | other.high, self.low | other.low)

    def __mul__(self, other: "UInt64") -> "UInt64":
        a, b = self.low & _HALF, self.low >> 16
        c, d = other.low & _HALF, other.low >> 16
        middle = (a * c >> 16) + (a * d & _HALF) + (b * c & _HALF)
        high = b * d + (a * d >> 16) + (b * c >> 16) + (middle >> 16)
        high = high + self.low * other.high + self.high * other.low
        return UInt64(high, a * c & _HALF | middle << 16)

    def __rshift__(self, by: int) -> "UInt64":
        if by >= 32:
            return UInt64(jnp.zeros_like(self.high), self.high >> (by - 32))
        return UInt64(self.high >> by, self.low >> by | self.high << (32 - by))

    def __lshift__(self, by: int) -> "UInt64":
        if by >= 32:
            return UInt64(self.low << (by - 32), jnp.zeros_like(self.low))
        return UInt64(self.high << by | self.low >> (32 - by), self.low << by)

    def rotated(self, by: int) -> "UInt64":
        """Rotates to the right by 1 to 63 bits, without 32."""
        return self >> by | self << (64 - by)

    def __mod__(self, count: int) -> jax.Array:
        """Returns the remainders, int32.

        Args:
            count: from 1 to 2**31 - 1.
        """
        # As many bits at a time as leave the remainder before them in 32 bits.
        step, left = 32 - count.bit_length(), 32
        rest = self.high % count
        while left:
            taken = min(step, left)
            left -= taken
            rest = (rest << taken | self.low >> left & ((1 << taken) - 1)) % count
        return rest.astype(jnp.int32)
