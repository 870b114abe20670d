"""What heads share: reductions, loss functions, and the spec of a model function."""

import jax.numpy as jnp
import pytest

from frontends import tf
from frontends.tf.estimator.canned.heads import RegressionHead
from frontends.tf.estimator.canned.heads.head import of_v1
from frontends.tf.graph import Graph, VariableStore

LOGITS, LABELS = jnp.array([[1.0], [3.0]]), jnp.array([0.0, 1.0])


def test_penalties_are_added():
    head = RegressionHead()
    found = head.loss(LABELS, LOGITS, regularization_losses=[jnp.float32(1), jnp.float32(2)])
    assert float(found) == 5.5
    metrics = head.update_metrics(
        head.metrics([1]), {}, LOGITS, LABELS, regularization_losses=[jnp.float32(3)]
    )
    assert float(metrics["regularization_loss"].result()) == 3


def test_a_loss_may_be_ones_own():
    def own(labels, logits, features):
        return jnp.abs(logits - labels) * features["scale"]

    assert float(RegressionHead(loss_fn=own).loss(LABELS, LOGITS, {"scale": 2.0})) == 3.0


@pytest.mark.parametrize("reduction", ["sum", "weighted_sum"])
def test_reductions_of_either_tensorflow_are_known(reduction):
    head = RegressionHead(loss_reduction=reduction)
    assert float(head.loss(LABELS, LOGITS)) == 5.0
    assert head.loss_reduction == reduction


def test_a_spec_has_what_its_mode_needs():
    head, keys = RegressionHead(), tf.estimator.ModeKeys
    with Graph(VariableStore()).as_default():
        spec = head.create_estimator_spec({}, keys.PREDICT, LOGITS)
        assert list(spec.predictions) == ["predictions"]
        spec = head.create_estimator_spec({}, keys.EVAL, LOGITS, LABELS)
        assert spec.eval_metric_ops.keys() == {"average_loss", "prediction/mean", "label/mean"}
        spec = head.create_estimator_spec(
            {}, keys.TRAIN, LOGITS, LABELS, train_op_fn=lambda loss: loss + 1
        )
        assert float(spec.train_op) == float(spec.loss) + 1 == 3.5
        with pytest.raises(ValueError, match="cannot both be None"):
            head.create_estimator_spec({}, keys.TRAIN, LOGITS, LABELS)
        with pytest.raises(ValueError, match="cannot both be set"):
            head.create_estimator_spec(
                {}, keys.TRAIN, LOGITS, LABELS, optimizer="SGD", train_op_fn=lambda loss: loss
            )
        with pytest.raises(ValueError, match="trainable_variables cannot be None"):
            head.create_estimator_spec({}, keys.TRAIN, LOGITS, LABELS, optimizer="SGD")
        with pytest.raises(ValueError, match="update_ops should be a list"):
            head.create_estimator_spec(
                {}, keys.TRAIN, LOGITS, LABELS, train_op_fn=lambda loss: loss, update_ops="x"
            )


def test_a_head_of_tensorflow_1_is_another():
    head = RegressionHead()
    old = of_v1(head)
    assert old is not head
    with Graph(VariableStore()).as_default() as graph:
        tf.compat.v1.add_to_collection(tf.compat.v1.GraphKeys.UPDATE_OPS, graph.operation("update"))
        train, mode = (lambda loss: graph.operation("train")), tf.estimator.ModeKeys.TRAIN
        of_old = old.create_estimator_spec({}, mode, LOGITS, LABELS, train_op_fn=train).train_op
        of_new = head.create_estimator_spec({}, mode, LOGITS, LABELS, train_op_fn=train).train_op
    assert len(of_old.inputs) == 2
    assert not of_new.inputs
