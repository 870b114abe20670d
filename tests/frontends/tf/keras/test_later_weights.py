"""Weights that are loaded into a model before it has any."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.keras.strategies import mirrored

X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


class Net(tf.keras.Model):
    """Has no weights before it is called."""

    def __init__(self, units=2):
        super().__init__()
        self.dense, self.last = tf.keras.layers.Dense(units), tf.keras.layers.Dense(1)

    def call(self, inputs):
        return self.last(self.dense(inputs))


@pytest.fixture
def saved(tmp_path):
    """A model, and the path of its weights."""
    model = Net()
    model(X)
    model.save_weights(tmp_path / "weights")
    return model, tmp_path / "weights"


def test_a_call_has_them(saved):
    model, path = saved
    other = Net()
    other.load_weights(path).expect_partial()
    np.testing.assert_array_equal(other(X), model(X))


def test_training_goes_on_from_them(saved):
    model, path = saved
    with mirrored().scope():
        other = Net()
        other.compile("sgd", "mse")
    other.load_weights(path)
    np.testing.assert_allclose(
        other.evaluate(X, X[:, :1], verbose=0), np.mean((model(X) - X[:, :1]) ** 2), rtol=1e-5
    )


def test_the_last_ones_count(saved, tmp_path):
    model, path = saved
    third = Net()
    third(X)
    third.save_weights(tmp_path / "third")
    other = Net()
    other.load_weights(tmp_path / "third")
    other.load_weights(path)
    np.testing.assert_array_equal(other(X), model(X))


def test_a_file_that_is_not_there_is_an_error_at_once(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no checkpoint"):
        Net().load_weights(tmp_path / "nothing")


def test_weights_of_another_model_are_an_error_of_the_call(saved):
    other = Net(units=5)
    other.load_weights(saved[1])
    with pytest.raises(ValueError, match="could not be loaded"):
        other(X)
