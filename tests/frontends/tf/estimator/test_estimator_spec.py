"""What a model function returns."""

import jax.numpy as jnp
import pytest

from frontends import tf

Spec, Keys = tf.estimator.EstimatorSpec, tf.estimator.ModeKeys


@pytest.mark.parametrize(
    ("mode", "given", "message"),
    [
        (Keys.TRAIN, {}, "Missing loss"),
        (Keys.EVAL, {}, "Missing loss"),
        (Keys.TRAIN, {"loss": jnp.float32(1)}, "Missing train_op"),
        (Keys.PREDICT, {}, "Missing predictions"),
        (Keys.EVAL, {"loss": jnp.ones(2)}, r"Loss must be scalar, given: \(2,\)"),
        ("training", {}, "mode must be one of .* but got 'training'"),
    ],
)
def test_what_a_mode_needs(mode, given, message):
    with pytest.raises(ValueError, match=message):
        Spec(mode, **given)


def test_a_loss_of_one_element_is_a_number():
    assert Spec(Keys.EVAL, loss=jnp.ones(1)).loss.shape == ()
    with pytest.raises(TypeError, match="loss must be Tensor, given: 'loss'"):
        Spec(Keys.EVAL, loss="loss")


def test_metrics_are_pairs():
    pair = jnp.float32(1), jnp.float32(2)
    assert Spec(Keys.EVAL, loss=jnp.float32(1), eval_metric_ops={"a": pair}).eval_metric_ops == {
        "a": pair
    }
    with pytest.raises(TypeError, match=r"must be .* tuples, .* for key: a"):
        Spec(Keys.EVAL, loss=jnp.float32(1), eval_metric_ops={"a": pair[0]})


def test_what_is_not_given_is_empty():
    spec = Spec(Keys.PREDICT, predictions=jnp.ones(2))
    assert (spec.loss, spec.train_op, spec.eval_metric_ops, spec.training_hooks) == (
        None,
        None,
        {},
        (),
    )
    assert spec._replace(mode=Keys.EVAL).mode == Keys.EVAL
