"""The hash functions of strings that TensorFlow uses for buckets: FarmHash's fingerprint, SipHash and MurmurHash."""

from collections.abc import Sequence
from typing import Any

import numpy as np

_MASK = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def buckets(
    text: np.ndarray[Any, Any], count: int, salt: int | Sequence[int] | None = None
) -> np.ndarray[Any, Any]:
    """Gives strings to buckets by their hash values.

    Args:
        text: array of strings.
        count: of buckets.
        salt: one integer or two that make another hash of it, SipHash; None takes FarmHash.

    Returns:
        The index of each string's bucket, in the shape of the array.

    Examples:
        >>> buckets(np.array(["A", "B"]), 3).tolist()
        [1, 0]

    Source: `tf.strings.to_hash_bucket_fast`, `tf.strings.to_hash_bucket_strong`.
    """
    unique, positions = np.unique(text, return_inverse=True)
    texts = [one.encode() for one in unique.tolist()]
    if salt is None:
        hashes = fingerprints(texts)
    else:
        keys = (salt, salt) if isinstance(salt, int) else tuple(salt)
        hashes = np.array([siphash(one, *keys) for one in texts], np.uint64)
    indices = (hashes % np.uint64(count)).astype(np.int64)
    return indices[positions].reshape(text.shape)


def fingerprint(data: bytes) -> int:
    """Returns FarmHash's 64-bit fingerprint of bytes.

    Examples:
        >>> fingerprint(b"") == 0x9AE16A3B2F90404F
        True

    Source: FarmHash, `farmhashna::Hash64`.
    """
    size = len(data)
    if size <= 16:
        return _up_to_16(data)
    if size <= 32:
        return _up_to_32(data)
    if size <= 64:
        return _up_to_64(data)
    return _longer(data)


def fingerprints(texts: Sequence[bytes]) -> np.ndarray[Any, Any]:
    """Returns the fingerprints of many texts, as uint64: those of up to 32 bytes, as words are, all at once.

    Examples:
        >>> fingerprints([b"a", b"word"]).tolist() == [fingerprint(b"a"), fingerprint(b"word")]
        True
    """
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    starts = np.cumsum(sizes) - sizes
    data = np.frombuffer(b"".join(texts) + bytes(8), np.uint8)
    found = np.full(len(texts), _K2, np.uint64)
    for least, most, hashed in _BY_SIZE:
        chosen = np.flatnonzero((sizes >= least) & (sizes <= most))
        if len(chosen):
            found[chosen] = hashed(_Bytes(data, starts[chosen]), sizes[chosen].astype(np.uint64))
    for number in np.flatnonzero(sizes > _BY_SIZE[-1][1]).tolist():
        found[number] = fingerprint(texts[number])
    return found


class _Bytes:
    """The bytes of several texts, which numbers are read from."""

    def __init__(self, data: np.ndarray[Any, Any], starts: np.ndarray[Any, Any]) -> None:
        self._data, self._starts = data, starts

    def number(self, at: Any, size: int = 8) -> np.ndarray[Any, Any]:
        """Returns the number of so many bytes at a place of each text."""
        first = self._starts + np.asarray(at).astype(np.int64)
        found = np.zeros(len(first), np.uint64)
        for place in range(size):
            found |= self._data[first + place].astype(np.uint64) << np.uint64(8 * place)
        return found


# These are `_up_to_16` and `_up_to_32` in arithmetic of arrays, which takes numbers modulo 2**64 by itself.
_U = np.uint64
_V0, _V1, _V2 = _U(_K0), _U(_K1), _U(_K2)


def _rights(value: Any, by: int) -> Any:
    return value >> _U(by) | value << _U(64 - by)


def _mixes(value: Any) -> Any:
    return value ^ value >> _U(47)


def _pairs(u: Any, v: Any, multiplier: Any) -> Any:
    a = _mixes((u ^ v) * multiplier)
    return _mixes((v ^ a) * multiplier) * multiplier


def _of_1_to_3(data: _Bytes, size: Any) -> Any:
    y = data.number(0, 1) + (data.number(size >> _U(1), 1) << _U(8))
    z = size + (data.number(size - _U(1), 1) << _U(2))
    return _mixes(y * _V2 ^ z * _V0) * _V2


def _of_4_to_7(data: _Bytes, size: Any) -> Any:
    first = size + (data.number(0, 4) << _U(3))
    return _pairs(first, data.number(size - _U(4), 4), _V2 + size * _U(2))


def _of_8_to_16(data: _Bytes, size: Any) -> Any:
    multiplier = _V2 + size * _U(2)
    a, b = data.number(0) + _V2, data.number(size - _U(8))
    c = _rights(b, 37) * multiplier + a
    d = (_rights(a, 25) + b) * multiplier
    return _pairs(c, d, multiplier)


def _of_17_to_32(data: _Bytes, size: Any) -> Any:
    multiplier = _V2 + size * _U(2)
    a, b = data.number(0) * _V1, data.number(8)
    c = data.number(size - _U(8)) * multiplier
    d = data.number(size - _U(16)) * _V2
    u = _rights(a + b, 43) + _rights(c, 30) + d
    return _pairs(u, a + _rights(b + _V2, 18) + c, multiplier)


_BY_SIZE = (
    (1, 3, _of_1_to_3),
    (4, 7, _of_4_to_7),
    (8, 16, _of_8_to_16),
    (17, 32, _of_17_to_32),
)


def murmurhash(data: bytes) -> int:
    """Returns the hash of bytes by which TensorFlow's first function of buckets goes, MurmurHash of 64 bits.

    Source: `tf.strings.to_hash_bucket`.
    """
    factor, whole = 0xC6A4A7935BD1E995, len(data) // 8 * 8
    found = 0xDECAFCAFFE ^ (len(data) * factor & _MASK)
    for at in range(0, whole, 8):
        word = int.from_bytes(data[at : at + 8], "little") * factor & _MASK
        found = (found ^ ((word ^ word >> 47) * factor & _MASK)) * factor & _MASK
    if data[whole:]:
        found = (found ^ int.from_bytes(data[whole:], "little")) * factor & _MASK
    found = (found ^ found >> 47) * factor & _MASK
    return found ^ found >> 47


def siphash(data: bytes, key0: int, key1: int) -> int:
    """Returns SipHash-2-4 of bytes.

    Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012.
    """
    key0, key1 = key0 & _MASK, key1 & _MASK
    state = [
        key0 ^ 0x736F6D6570736575,
        key1 ^ 0x646F72616E646F6D,
        key0 ^ 0x6C7967656E657261,
        key1 ^ 0x7465646279746573,
    ]
    whole = len(data) // 8 * 8
    words = [_word(data, at) for at in range(0, whole, 8)]
    words.append(int.from_bytes(data[whole:], "little") | (len(data) & 0xFF) << 56)
    for word in words:
        state[3] ^= word
        _rounds(state, 2)
        state[0] ^= word
    state[2] ^= 0xFF
    _rounds(state, 4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _rounds(state: list[int], count: int) -> None:
    a, b, c, d = state
    for _ in range(count):
        a, c = (a + b) & _MASK, (c + d) & _MASK
        b, d = _left(b, 13) ^ a, _left(d, 16) ^ c
        a = _left(a, 32)
        c, a = (c + b) & _MASK, (a + d) & _MASK
        b, d = _left(b, 17) ^ c, _left(d, 21) ^ a
        c = _left(c, 32)
    state[:] = a, b, c, d


def _left(value: int, by: int) -> int:
    return (value << by | value >> (64 - by)) & _MASK


def _right(value: int, by: int) -> int:
    value &= _MASK
    return (value >> by | value << (64 - by)) & _MASK


def _word(data: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _mix(value: int) -> int:
    value &= _MASK
    return value ^ value >> 47


def _pair(u: int, v: int, multiplier: int) -> int:
    a = _mix(((u ^ v) & _MASK) * multiplier)
    return _mix((((v ^ a) & _MASK) * multiplier) & _MASK) * multiplier & _MASK


def _up_to_16(data: bytes) -> int:
    size = len(data)
    multiplier = _K2 + size * 2
    if size >= 8:
        a, b = _word(data, 0) + _K2 & _MASK, _word(data, size - 8)
        c = _right(b, 37) * multiplier + a & _MASK
        d = (_right(a, 25) + b) * multiplier & _MASK
        return _pair(c, d, multiplier)
    if size >= 4:
        first = size + (_word(data, 0, 4) << 3)
        return _pair(first & _MASK, _word(data, size - 4, 4), multiplier)
    if size > 0:
        y = data[0] + (data[size >> 1] << 8)
        z = size + (data[size - 1] << 2)
        return _mix(y * _K2 & _MASK ^ z * _K0 & _MASK) * _K2 & _MASK
    return _K2


def _up_to_32(data: bytes) -> int:
    size = len(data)
    multiplier = _K2 + size * 2
    a, b = _word(data, 0) * _K1 & _MASK, _word(data, 8)
    c = _word(data, size - 8) * multiplier & _MASK
    d = _word(data, size - 16) * _K2 & _MASK
    u = _right(a + b, 43) + _right(c, 30) + d & _MASK
    return _pair(u, a + _right(b + _K2, 18) + c & _MASK, multiplier)


def _up_to_64(data: bytes) -> int:
    size = len(data)
    multiplier = _K2 + size * 2
    a, b = _word(data, 0) * _K2 & _MASK, _word(data, 8)
    c = _word(data, size - 8) * multiplier & _MASK
    d = _word(data, size - 16) * _K2 & _MASK
    y = _right(a + b, 43) + _right(c, 30) + d & _MASK
    z = _pair(y, a + _right(b + _K2, 18) + c & _MASK, multiplier)
    e, f = _word(data, 16) * multiplier & _MASK, _word(data, 24)
    g = (y + _word(data, size - 32)) * multiplier & _MASK
    h = (z + _word(data, size - 24)) * multiplier & _MASK
    u = _right(e + f, 43) + _right(g, 30) + h & _MASK
    return _pair(u, e + _right(f + a, 18) + g & _MASK, multiplier)


def _of_32(data: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = (_word(data, at + offset) for offset in (0, 8, 16, 24))
    a = a + w & _MASK
    b = _right(b + a + z, 21)
    c = a
    a = a + x + y & _MASK
    b = b + _right(a, 44) & _MASK
    return a + z & _MASK, b + c & _MASK


def _longer(data: bytes) -> int:
    seed, size = 81, len(data)
    x, y = seed, seed * _K1 + 113 & _MASK
    z = _mix(y * _K2 + 113 & _MASK) * _K2 & _MASK
    v, w = (0, 0), (0, 0)
    x = x * _K2 + _word(data, 0) & _MASK
    for at in range(0, (size - 1) // 64 * 64, 64):
        x = _right(x + y + v[0] + _word(data, at + 8), 37) * _K1 & _MASK
        y = _right(y + v[1] + _word(data, at + 48), 42) * _K1 & _MASK
        x ^= w[1]
        y = y + v[0] + _word(data, at + 40) & _MASK
        z = _right(z + w[0], 33) * _K1 & _MASK
        v = _of_32(data, at, v[1] * _K1 & _MASK, x + w[0] & _MASK)
        w = _of_32(data, at + 32, z + w[1] & _MASK, y + _word(data, at + 16) & _MASK)
        z, x = x, z
    multiplier = _K1 + ((z & 0xFF) << 1) & _MASK
    at = size - 64
    w = (w[0] + ((size - 1) & 63) & _MASK, w[1])
    v = (v[0] + w[0] & _MASK, v[1])
    w = (w[0] + v[0] & _MASK, w[1])
    x = _right(x + y + v[0] + _word(data, at + 8), 37) * multiplier & _MASK
    y = _right(y + v[1] + _word(data, at + 48), 42) * multiplier & _MASK
    x ^= w[1] * 9 & _MASK
    y = y + v[0] * 9 + _word(data, at + 40) & _MASK
    z = _right(z + w[0], 33) * multiplier & _MASK
    v = _of_32(data, at, v[1] * multiplier & _MASK, x + w[0] & _MASK)
    w = _of_32(data, at + 32, z + w[1] & _MASK, y + _word(data, at + 16) & _MASK)
    z, x = x, z
    return _pair(
        _pair(v[0], w[0], multiplier) + _mix(y) * _K0 + z & _MASK,
        _pair(v[1], w[1], multiplier) + x & _MASK,
        multiplier,
    )
