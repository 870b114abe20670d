"""Blocks of examples: what is read together is what is read one by one."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.io import parsing, wire
from frontends.tf.io.blocks import Block

SPEC = {
    "fixed": tf.io.FixedLenFeature([2], tf.float32),
    "label": tf.io.FixedLenFeature([], tf.int64, default_value=-1),
    "name": tf.io.FixedLenFeature([], tf.string, default_value="none"),
    "ids": tf.io.VarLenFeature(tf.int64),
    "weights": tf.io.RaggedFeature(tf.float32),
    "padded": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=9),
}


def example(random, *, keys=("fixed", "label", "name", "ids", "weights", "padded")):
    def integers(most):
        bits = random.integers(1, 63, random.integers(0, most + 1))
        return [int(random.integers(-(2**b), 2**b)) for b in bits]

    features = {
        "fixed": {"float_list": tf.train.FloatList(value=random.random(2))},
        "label": {"int64_list": tf.train.Int64List(value=[int(random.integers(300))])},
        "name": {"bytes_list": tf.train.BytesList(value=[b"x" * int(random.integers(0, 200))])},
        "ids": {"int64_list": tf.train.Int64List(value=integers(4))},
        "weights": {"float_list": tf.train.FloatList(value=random.random(random.integers(0, 3)))},
        "padded": {"int64_list": tf.train.Int64List(value=integers(2))},
    }
    chosen = {key: tf.train.Feature(**features[key]) for key in keys}
    return tf.train.Example(features=tf.train.Features(feature=chosen)).SerializeToString()


def outcome(texts, monkeypatch, few):
    monkeypatch.setattr(parsing, "_FEW", few)
    try:
        parsed = tf.io.parse_example(np.array(texts, object), SPEC)
    except ValueError as error:
        return str(error)
    ids, weights = parsed.pop("ids"), parsed.pop("weights").to_list()
    sparse = [np.asarray(part).tolist() for part in (ids.indices, ids.values, ids.dense_shape)]
    dense = {key: (one.dtype, one.shape, one.tolist()) for key, one in parsed.items()}
    return dense, sparse, weights


def test_examples_of_one_program_are_read_together(monkeypatch):
    random = np.random.default_rng(0)
    texts = [example(random) for _ in range(16)]
    block = Block.of(texts)
    assert block is not None
    ids = block.values(b"ids", wire.INTEGERS)
    assert ids is not None
    assert ids.lengths.max() > 1
    assert block.values(b"ids", wire.FLOATS) is block.values(b"other", wire.INTEGERS) is None
    monkeypatch.setattr(wire, "scan", None)  # nothing is read one by one
    parsed = tf.io.parse_example(np.array(texts, object), SPEC)
    assert parsed["fixed"].shape == (16, 2)


@pytest.mark.parametrize("change", ["none", "keys", "bytes"])
def test_reading_together_gives_what_reading_one_by_one_gives(change, monkeypatch):
    random = np.random.default_rng(1)
    for _ in range(12):
        texts = [example(random) for _ in range(8)]
        at = int(random.integers(8))
        if change == "keys":
            some = ("name", "fixed", "ids") if random.random() < 0.5 else ("fixed", "padded")
            texts[at] = example(random, keys=some)
        elif change == "bytes":
            damaged = bytearray(texts[at])
            damaged[random.integers(len(damaged))] = random.integers(256)
            texts[at] = bytes(damaged[: random.integers(len(damaged))] if at % 2 else damaged)
        assert outcome(texts, monkeypatch, 2) == outcome(texts, monkeypatch, 99)


@pytest.mark.parametrize("outer", [9, 0x7F])
def test_a_key_longer_than_its_entry(outer):
    damaged = bytes([10, outer, 10, 7, 10, *(0x80, 0x80, 0x80, 0x80, 0x08)])  # a key of 2**31 bytes
    assert len(damaged) == 10
    assert Block.of([damaged + b"x"] * 8) is None
