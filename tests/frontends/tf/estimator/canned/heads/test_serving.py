"""What heads have models for serving give."""

import jax.numpy as jnp

from frontends import tf

LOGITS = jnp.array([[1.0, 2.0, 0.0]])
PREDICT = tf.estimator.ModeKeys.PREDICT


def _outputs(head, logits=LOGITS):
    return head.create_estimator_spec({}, PREDICT, logits).export_outputs


def test_signatures_have_tensorflows_names():
    e = tf.estimator
    assert _outputs(e.BinaryClassHead(), LOGITS[:, :1]).keys() == {
        *("serving_default", "classification", "regression", "predict"),
    }
    for head in (e.MultiClassHead(3), e.MultiLabelHead(3)):
        assert _outputs(head).keys() == {"serving_default", "classification", "predict"}
    assert _outputs(e.RegressionHead(3)).keys() == {"serving_default", "regression", "predict"}


def test_several_heads_have_signatures_of_their_own():
    e = tf.estimator
    head = e.MultiHead([e.BinaryClassHead(name="a"), e.RegressionHead(2, name="b")])
    found = _outputs(head)
    assert found.keys() == {
        *("serving_default", "a", "a/classification", "a/regression", "a/predict"),
        *("b", "b/regression", "b/predict", "predict"),
    }
    assert found["serving_default"] is found["a"]
    assert {"a/logits", "b/predictions"} <= found["predict"].outputs.keys()
