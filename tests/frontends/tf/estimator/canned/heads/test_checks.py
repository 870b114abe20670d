"""Labels, logits and weights as heads need them."""

import jax.numpy as jnp
import pytest

from frontends import tf
from frontends.tf.estimator.canned.heads import checks

LOGITS = jnp.zeros((2, 3))


def test_labels_get_the_axis_of_logits():
    assert checks.check_labels([1, 2], LOGITS, 1).shape == (2, 1)
    assert checks.check_labels([[1], [2]], LOGITS, 1).shape == (2, 1)


@pytest.mark.parametrize(
    ("labels", "size", "words"),
    [
        (None, 1, "You must provide a labels Tensor. Given: None"),
        ([[1, 0, 0]] * 2, 1, "Mismatched label shape. Expected labels dimension=1.  Received 3"),
        ([1, 2, 3], 1, r"labels shape must be \[D0, D1, ... DN, 1\]"),
        (3, 1, "rank at least 2"),
    ],
)
def test_labels_of_another_shape_are_refused(labels, size, words):
    with pytest.raises(ValueError, match=words):
        checks.check_labels(labels, LOGITS, size)


def test_logits_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"logits_dimension=1\], got \(2, 3\)"):
        checks.check_logits(LOGITS, 1)


def test_weights_are_a_column():
    features = {"w": jnp.array([1, 2])}
    assert checks.weights_of(features, "w", LOGITS).tolist() == [[1.0], [2.0]]
    assert checks.weights_of(features, None, LOGITS) == 1.0
    pairs = tf.feature_column.numeric_column("p", (3,))
    of_pairs = {"p": jnp.ones((2, 3))}
    assert checks.weights_of(of_pairs, pairs, LOGITS, per_logit=True).shape == (2, 3)
    with pytest.raises(ValueError, match="weights shape must be"):
        checks.weights_of(of_pairs, pairs, LOGITS)
    with pytest.raises(TypeError, match="either a string or NumericColumn"):
        checks.weights_of(features, 3, LOGITS)


def test_loss_functions_are_checked():
    with pytest.raises(ValueError, match="loss_fn must contain argument: logits"):
        checks.check_loss_fn(lambda labels: labels)
    with pytest.raises(ValueError, match=r"unexpected args: \['x'\]"):
        checks.check_loss_fn(lambda labels, logits, x: x)
    with pytest.raises(ValueError, match="loss_fn must return Tensor of shape"):
        checks.called_loss(lambda labels, logits: logits, LOGITS, LOGITS, {}, 1)


def test_reductions_are_checked():
    with pytest.raises(ValueError, match="Invalid loss_reduction: none"):
        checks.reduction_of(tf.compat.v1.losses.Reduction.NONE)
