"""Conditional random fields, against all sequences of tags."""

import itertools

import numpy as np
import pytest

from frontends import tf
from frontends.tf.contrib import crf
from frontends.tf.graph import Graph

STEPS, TAGS, LENGTHS = 4, 3, [4, 2, 1, 0]
INPUTS = np.sin(np.arange(len(LENGTHS) * STEPS * TAGS, dtype=np.float32)).reshape(-1, STEPS, TAGS)
PARAMS = np.cos(np.arange(TAGS * TAGS, dtype=np.float32)).reshape(TAGS, TAGS)
TAGGED = np.array([[0, 1, 2, 1], [2, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])


def score(row, tags):
    unary = sum(INPUTS[row, step, tag] for step, tag in enumerate(tags))
    return unary + sum(PARAMS[pair] for pair in itertools.pairwise(tags))


def every(row):
    """All sequences of tags of a row, with their scores."""
    tags = itertools.product(range(TAGS), repeat=LENGTHS[row])
    return {one: score(row, one) for one in tags}


def test_likelihoods_are_shares_of_all_sequences():
    found, params = crf.crf_log_likelihood(INPUTS, TAGGED, LENGTHS, PARAMS)
    expected = [
        score(row, TAGGED[row, :length]) - np.log(np.sum(np.exp(list(every(row).values()))))
        for row, length in enumerate(LENGTHS)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert params is PARAMS


def test_the_best_sequence_is_found():
    tags, scores = crf.crf_decode(INPUTS, PARAMS, LENGTHS)
    assert tags.dtype == np.int32
    for row, length in enumerate(LENGTHS[:3]):
        best = max(every(row), key=every(row).get)
        assert tags[row].tolist() == [*best, *[0] * (STEPS - length)]
        assert float(scores[row]) == pytest.approx(every(row)[best], rel=1e-5)
        found, value = crf.viterbi_decode(INPUTS[row, :length], PARAMS)
        assert (tuple(found), value) == (best, pytest.approx(every(row)[best], rel=1e-5))


def test_transitions_are_a_variable_that_trains():
    with tf.GradientTape(persistent=True) as tape, Graph(tape=tape).as_default():
        with tf.variable_scope("crf"):
            found, params = tf.contrib.crf.crf_log_likelihood(INPUTS, TAGGED, LENGTHS)
        loss = tf.reduce_mean(-found)
    assert params.name == "crf/transitions:0"
    gradient = np.asarray(tape.gradient(loss, params))
    # What is expected less what there is: both add up to the number of transitions.
    assert np.abs(gradient).max() > 0
    assert gradient.sum() == pytest.approx(0, abs=1e-5)
