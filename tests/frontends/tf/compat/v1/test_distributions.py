"""Distributions, against what TensorFlow 2.15 computes."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf

d = tf.compat.v1.distributions
LOGITS = np.array([[0.5, -1, 2], [0, 0, 1]], np.float32)
NORMAL, STANDARD = d.Normal([1.0, 2.0], [0.5, 2.0]), d.Normal(0.0, 1.0)
COIN, OTHER = d.Bernoulli(logits=LOGITS[0]), d.Bernoulli(probs=[0.25, 0.5, 0.75])
CLASSES = d.Categorical(logits=LOGITS)
SHARES = d.Categorical(probs=[[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]])

RECORDED = {
    "normal": [
        [-2.225791, -1.737086],
        [0.483941, 0.193334],
        [0.02275, 0.691462],
        [-3.783184, -0.368946],
        [1.0, 2.0],
        [0.5, 2.0],
        [0.25, 4.0],
        [1.0, 2.0],
        [0.725791, 2.112086],
        [0.818147, 2.806853],
        [0.818147, 2.806853],
    ],
    "bernoulli": [
        [-0.974077, -1.313262, -0.126928],
        [0.622459, 0.268941, 0.880797],
        [0.622459, 0.268941, 0.880797],
        [0.484772, 0.443409, 0.324027],
        [0.235004, 0.196612, 0.104994],
        [1.0, 0.0, 1.0],
        [0.662847, 0.582203, 0.365334],
        [-1.386294, -0.693147, -0.287682],
        [0.562335, 0.693147, 0.562335],
        [-1.098612, 0.0, 1.098612],
        [0.308676, 0.110944, 0.053306],
    ],
    "categorical": [
        [-0.241311, -1.551445],
        [0.039113, 0.211942],
        [2.0, 2.0],
        [0.621585, 0.975328],
        [-0.693147, -0.693147],
        [1.029653, 1.039721],
        [0.252159, 0.26406],
        [[-1.741311, -1.551445], [-0.241311, -0.551445]],
        [[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]],
    ],
}


def found(name):
    n, b, c, k, q = NORMAL, COIN, OTHER, CLASSES, SHARES
    match name:
        case "normal":
            at = [0.0, 3.0]
            return [
                *(n.log_prob(at), n.prob(1.5), n.cdf(at), n.log_cdf(at), n.mean(), n.stddev()),
                *(n.variance(), n.mode(), n.entropy(), n.kl_divergence(STANDARD)),
                d.kl_divergence(n, STANDARD),
            ]
        case "bernoulli":
            return [
                *(b.log_prob([0, 1, 1]), b.prob(1), b.mean(), b.stddev(), b.variance(), b.mode()),
                *(b.entropy(), c.log_prob([1, 0, 1]), c.entropy(), c.logits),
                d.kl_divergence(b, c),
            ]
        case _:
            return [
                *(k.log_prob([2, 0]), k.prob(1), k.mode(), k.entropy(), q.log_prob([2, 0])),
                *(q.entropy(), k.kl_divergence(q), k.log_prob([[0, 1], [2, 2]]), q.probs),
            ]


@pytest.mark.parametrize("name", RECORDED)
def test_numbers_are_tensorflows(name):
    for one, expected in zip(found(name), RECORDED[name], strict=True):
        np.testing.assert_allclose(one, expected, atol=2e-5)


@pytest.mark.parametrize(
    ("distribution", "shape", "expected"),
    [
        (NORMAL, (), (2,)),
        (NORMAL, [2, 3], (2, 3, 2)),
        (STANDARD, 4, (4,)),
        (COIN, [2], (2, 3)),
        (CLASSES, [4, 2], (4, 2, 2)),
    ],
)
def test_samples_have_the_shape_of_the_batch_at_last(distribution, shape, expected):
    drawn = distribution.sample(shape)
    assert (drawn.shape, drawn.dtype) == (expected, distribution.dtype)


def test_samples_are_of_their_distribution():
    tf.random.set_seed(1)
    np.testing.assert_allclose(jnp.mean(NORMAL.sample(4000), axis=0), [1, 2], atol=0.1)
    np.testing.assert_allclose(jnp.mean(OTHER.sample(4000), axis=0), OTHER.probs, atol=0.05)
    classes = SHARES.sample(4000)
    shares = [jnp.mean(classes == index, axis=0) for index in range(3)]
    np.testing.assert_allclose(np.stack(shares, axis=1), SHARES.probs, atol=0.05)


def test_what_has_no_meaning_is_an_error():
    with pytest.raises(ValueError, match="Must pass probs or logits, but not both"):
        d.Bernoulli()
    with pytest.raises(NotImplementedError, match="two of one kind"):
        d.kl_divergence(NORMAL, COIN)
    with pytest.raises(NotImplementedError, match="Classes have no mean"):
        CLASSES.mean()
