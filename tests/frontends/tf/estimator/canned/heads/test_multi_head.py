"""Several heads together."""

import jax.numpy as jnp
import pytest

from frontends.tf.estimator.canned.heads import BinaryClassHead, MultiHead, RegressionHead

CLICK, PRICE = BinaryClassHead(name="click"), RegressionHead(2, name="price")
LOGITS = jnp.array([[1.0, 2.0, 3.0], [-1.0, 0.0, 1.0]])
LABELS = {"click": jnp.array([1, 0]), "price": jnp.array([[2.0, 2.0], [0.0, 1.0]])}


def test_losses_are_weighted_and_added():
    parts = CLICK.loss(LABELS["click"], LOGITS[:, :1]), PRICE.loss(LABELS["price"], LOGITS[:, 1:])
    found = MultiHead([CLICK, PRICE], [2.0, 0.5]).loss(LABELS, LOGITS)
    assert float(found) == pytest.approx(float(2 * parts[0] + 0.5 * parts[1]))
    by_name = {"click": LOGITS[:, :1], "price": LOGITS[:, 1:]}
    assert float(MultiHead([CLICK, PRICE]).loss(LABELS, by_name)) == pytest.approx(
        float(sum(parts))
    )


def test_predictions_and_metrics_are_by_head():
    head = MultiHead([CLICK, PRICE])
    assert head.name == "click_price"
    assert head.logits_dimension == 3
    assert ("price", "predictions") in head.predictions(LOGITS)
    found = head.update_metrics(head.metrics(), {}, LOGITS, LABELS)
    assert float(found["loss/price"].result()) == 0.25
    assert float(found["accuracy/click"].result()) == 1.0


def test_what_is_missing_is_named():
    head = MultiHead([CLICK, PRICE])
    with pytest.raises(ValueError, match=r"labels has missing values for head\(s\): \['price'\]"):
        head.loss({"click": LABELS["click"]}, LOGITS)
    with pytest.raises(ValueError, match=r"logits has missing values for head\(s\): \['click'\]"):
        head.loss(LABELS, {"price": LOGITS[:, 1:]})
    with pytest.raises(ValueError, match="should equal 3 but is 2"):
        head.loss(LABELS, LOGITS[:, :2])
    with pytest.raises(ValueError, match="must have name"):
        MultiHead([BinaryClassHead()])
    with pytest.raises(ValueError, match="same size"):
        MultiHead([CLICK], [1.0, 2.0])
    with pytest.raises(ValueError, match="Must specify heads"):
        MultiHead([])
