"""Where values are in an example's bytes: the form that programs write, the other forms, and damage."""

import random

import numpy as np
import pytest

from frontends import tf
from frontends.tf.io import wire

TYPES = {wire.TEXTS: wire.texts, wire.FLOATS: wire.floats, wire.INTEGERS: wire.integers}


def feature(value):
    train = tf.train
    if isinstance(value[0], bytes):
        return train.Feature(bytes_list=train.BytesList(value=value))
    if isinstance(value[0], float):
        return train.Feature(float_list=train.FloatList(value=value))
    return train.Feature(int64_list=train.Int64List(value=value))


def example(**values):
    features = tf.train.Features(feature={key: feature(one) for key, one in values.items()})
    return tf.train.Example(features=features).SerializeToString(deterministic=True)


def read(data):
    data, spans = wire.scan(data)
    return {
        key.decode(): list(TYPES[kind](data, start, stop)) if kind else []
        for key, (kind, start, stop) in spans.items()
    }


def by_protobuf(data):
    found = {}
    for key, value in tf.train.Example.FromString(data).features.feature.items():
        kind = value.WhichOneof("kind")
        found[key] = list(getattr(value, kind).value) if kind else []
    return found


def test_what_programs_write():
    values = {
        "ids": [0, 127, 128, -1, 2**62, -(2**63), 300],
        "x": [0.5, -1.0],
        "words": [b"a", b"", b"x" * 300],
        "k" * 200: [1],
    }
    assert read(example(**values)) == values
    assert read(b"") == {}


@pytest.mark.parametrize(
    "data",
    [
        bytes.fromhex("0a0e0a0c0a0178120712050d0000803f"),  # a float that is not packed
        bytes.fromhex("0a0d0a0b0a017812061a0408030805"),  # integers that are not packed
        example(x=[1.0]) + example(x=[2.0], y=[3]),  # keys that come twice
        example(x=[1.0]) + bytes.fromhex("7801"),  # a field that nobody knows
        bytes.fromhex("0a050a030a0178"),  # a key without a feature
        bytes.fromhex("0a090a0712050a030a0141"),  # a feature without a key
    ],
)
def test_what_protobuf_reads_as_well(data):
    assert read(data) == by_protobuf(data)


@pytest.mark.parametrize(
    "data",
    [b"no example", example(x=[1.0])[:-1], b"\x0a" + b"\xff" * 50, b"\x0a\x05\x0a\x03\x0a\x05x"],
)
def test_what_is_no_example(data):
    with pytest.raises(ValueError, match="Could not parse example input"):
        read(data)


def mutated(data, rng):
    content = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(content))
        match rng.randrange(4):
            case 0:
                content[place] ^= 1 << rng.randrange(8)
            case 1:
                content[place] = rng.randrange(256)
            case 2:
                del content[place : place + rng.randint(1, 5)]
            case 3:
                content[place:place] = rng.randbytes(rng.randint(1, 5))
        if not content:
            return b""
    return bytes(content)


def check_mutated(count, seed):
    """Each is read as protobuf reads it, or is an error; what protobuf refuses may be a key that is no UTF-8."""
    rng = random.Random(seed)
    original = example(
        ids=[1, 200, -3], x=[0.5, 2.0, 3.0], words=[b"abc", b"de"], more=[7], y=[1.0]
    )
    read_well = 0
    for _ in range(count):
        data = mutated(original, rng)
        try:
            expected = by_protobuf(data)
        except Exception:
            expected = None
        try:
            found = read(data)
        except ValueError:
            assert expected is None, data.hex()
            continue
        if expected is not None:
            np.testing.assert_equal(found, expected)
            read_well += 1
    assert read_well > count / 20


def test_mutated_examples():
    check_mutated(400, seed=1)


@pytest.mark.slow
def test_many_mutated_examples():
    check_mutated(10_000, seed=2)


@pytest.mark.parametrize(
    "numbers", [[300, -1, 0, 2**63 - 1], [-(2**63)], [5000, 7] * 40, [2**40] * 60, [128]]
)
def test_few_integers_and_many_are_the_same_numbers(numbers, monkeypatch):
    data = tf.train.Int64List(value=numbers).SerializeToString()
    for short in (-1, 256, 10**6):
        monkeypatch.setattr(wire, "_SHORT", short)
        found = wire.integers(data, 0, len(data))
        assert (found.tolist(), found.dtype) == (numbers, np.int64)


@pytest.mark.parametrize("content", [b"\x80", b"\x01\x80", b"\x80" * 10 + b"\x01"])
def test_few_integers_that_end_too_late_or_not_at_all(content):
    data = b"\n" + bytes([len(content)]) + content
    with pytest.raises(wire.MalformedExample):
        wire.integers(data, 0, len(data))
