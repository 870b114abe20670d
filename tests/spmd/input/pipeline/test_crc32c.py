"""CRC32C: against the definition, for all kinds of lengths, and of many messages at once."""

import random

import numpy as np
import pytest

from spmd.input.pipeline import crc32c as crc


def by_definition(data: bytes) -> int:
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


@pytest.mark.parametrize("size", [0, 1, 3, 31, 32, 33, 1023, 1025, 6777, 7801, 7802, 30_001])
def test_any_length(size):
    data = random.Random(size).randbytes(size)
    assert crc.crc32c(data) == by_definition(data)
    assert crc.crc32c(np.frombuffer(data, np.uint8)) == by_definition(data)


def test_the_checksum_of_files():
    # The CRC32C of "123456789" is 0xe3069283 by RFC 3720; a masked one is rotated and moved.
    assert crc.crc32c(b"123456789") == 0xE3069283
    expected = ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert crc.masked_crc32c(b"123456789") == crc.mask(0xE3069283) == expected


@pytest.mark.parametrize("length", [0, 1, 255, 3153, 2**24, 2**40 + 7, 2**64 - 1])
def test_lengths(length):
    data = length.to_bytes(8, "little")
    assert crc.masked_crc32c_of_length(data) == crc.masked_crc32c(data)


def test_many_messages_at_once():
    rng = random.Random(3)
    block, starts, ends = bytearray(), [], []
    for size in [0, 1, 2, 3, 4, 5, *(rng.randrange(2000) for _ in range(30))]:
        message = rng.randbytes(size)
        starts.append(len(block))
        ends.append(len(block) + size)
        block += message + crc.masked_crc32c(message).to_bytes(4, "little")

    def intact(content):
        array = np.frombuffer(bytes(content), np.uint8).copy()
        return crc.all_intact(array, np.array(starts), np.array(ends))

    assert intact(block)
    for _ in range(60):
        damaged = bytearray(block)
        damaged[rng.randrange(len(block))] ^= 1 << rng.randrange(8)
        assert not intact(damaged)
