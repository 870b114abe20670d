"""Sequence examples: what the recorded cases (tests/golden, records) leave out."""

import random

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.io.test_wire import feature, mutated


def sequence(**lists):
    train = tf.train
    made = {
        key: train.FeatureList(feature=[feature(one) for one in steps])
        for key, steps in lists.items()
    }
    return train.SequenceExample(
        feature_lists=train.FeatureLists(feature_list=made)
    ).SerializeToString(deterministic=True)


def test_frames_in_a_dataset():
    data = sequence(frames=[[b"ab"], [b"cd"]], scores=[[1.0], [2.0]])
    spec = {
        "frames": tf.io.FixedLenSequenceFeature([], tf.string),
        "scores": tf.io.FixedLenSequenceFeature([], tf.float32),
    }

    def parse(record):
        _, lists = tf.io.parse_single_sequence_example(record, sequence_features=spec)
        return tf.io.decode_raw(lists["frames"], tf.uint8), lists["scores"]

    dataset = tf.data.Dataset.from_generator(lambda: iter([data])).map(parse)
    frames, scores = next(iter(dataset))
    assert frames.tolist() == [[97, 98], [99, 100]]
    assert scores.tolist() == [1.0, 2.0]


def test_a_batch_of_no_examples():
    spec = {"x": tf.io.VarLenFeature(tf.float32)}
    none = np.array([], object)
    _, lists, lengths = tf.io.parse_sequence_example(none, sequence_features=spec)
    assert (lists["x"].dense_shape.tolist(), lengths) == ([0, 0, 0], {})


def test_ragged_features_say_what_to_write():
    spec = {"x": tf.io.RaggedFeature(tf.float32)}
    with pytest.raises(ValueError, match=r"Fix: tf\.io\.FixedLenSequenceFeature"):
        tf.io.parse_single_sequence_example(b"", sequence_features=spec)


def test_mutated_sequences():
    rng = random.Random(1)
    original = sequence(x=[[1.0, 2.0], [3.0, 4.0]], n=[[1], [2, 300]])
    spec = {
        "x": tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
        "n": tf.io.VarLenFeature(tf.int64),
    }
    read = 0
    for _ in range(300):
        try:
            _, lists = tf.io.parse_single_sequence_example(
                mutated(original, rng), sequence_features=spec
            )
        except ValueError:
            continue
        read += 1
        assert lists["x"].shape[1:] == (2,)
    assert 0 < read < 300
