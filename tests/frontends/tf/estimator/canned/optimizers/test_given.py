"""What `optimizer=` may be."""

import pytest

from frontends import tf
from frontends.tf.estimator.canned.optimizers import optimizer_of, optimizer_of_v1
from frontends.tf.estimator.canned.optimizers.keras_like import KerasLikeOptimizer


@pytest.mark.parametrize("name", ["Adagrad", "Adam", "Ftrl", "RMSProp", "SGD"])
def test_names_are_known(name):
    assert isinstance(optimizer_of(name), KerasLikeOptimizer)
    old = optimizer_of_v1(name, 0.1)
    assert type(old).__module__ == "frontends.tf.compat.v1.train.optimizers"


def test_optimizers_and_functions_are_taken():
    old, new = tf.compat.v1.train.AdamOptimizer(), tf.keras.optimizers.Adam(0.5)
    assert optimizer_of(old) is optimizer_of_v1(lambda: old, 0.1) is old
    for made in (optimizer_of(new), optimizer_of_v1(lambda: new, 0.1)):
        assert made.get_name() == "training/Adam"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("Adamant", "Unsupported optimizer name: Adamant"),
        (3, "not an Optimizer instance. Given: 3"),
    ],
)
def test_other_things_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        optimizer_of(given)


def test_what_keras_2_has_not_is_refused():
    with pytest.raises(ValueError, match="do not train with the optimizer AdamW"):
        optimizer_of(tf.keras.optimizers.AdamW())
    with pytest.raises(ValueError, match=r"SGD\(use_ema=...\)"):
        optimizer_of(tf.keras.optimizers.SGD(use_ema=True))
