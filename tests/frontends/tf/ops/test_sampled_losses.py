"""Losses over sampled classes; recorded cases hold their numbers to TensorFlow's."""

import jax
import numpy as np
import pytest

from frontends import tf
from frontends.tf.ops.sampled_losses import (
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)


@pytest.mark.parametrize("sampler", [log_uniform_candidate_sampler, uniform_candidate_sampler])
@pytest.mark.parametrize("unique", [True, False])
def test_counts_are_those_of_the_samples(sampler, unique):
    tf.random.set_seed(1)
    every = np.arange(10)[:, None]
    counts, runs = np.zeros(10), 60
    for _ in range(runs):
        found, expected, of_sampled = sampler(every, 1, 4, unique, 10)
        counts += np.bincount(found, minlength=10)
        assert not unique or len(set(np.asarray(found))) == 4
        np.testing.assert_allclose(of_sampled, np.asarray(expected)[np.asarray(found), 0])
    np.testing.assert_allclose(counts / runs, np.asarray(expected)[:, 0], atol=0.25)


@pytest.mark.parametrize("sampler", [log_uniform_candidate_sampler, uniform_candidate_sampler])
@pytest.mark.parametrize("unique", [True, False])
def test_nothing_is_compiled_again_for_other_classes(sampler, unique, caplog):
    sampler([[1]], 1, 4, unique, 50, seed=1)
    with jax.log_compiles(), caplog.at_level("DEBUG"):
        sampler([[2]], 1, 4, unique, 50, seed=1)
    assert "Compiling" not in caplog.text


def test_samples_are_drawn_by_default():
    weights, rows = np.ones((20, 4), np.float32), np.ones((3, 4), np.float32)
    for loss in (tf.nn.nce_loss, tf.nn.sampled_softmax_loss):
        found = loss(
            [weights[:10], weights[10:]], np.zeros(20, np.float32), [[1], [2], [3]], rows, 5, 20
        )
        assert found.shape == (3,)
        assert np.isfinite(found).all()
