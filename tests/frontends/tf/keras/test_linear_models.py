"""Linear models, and wide and deep ones."""

import keras
import numpy as np
import pytest

from frontends import tf

LinearModel = tf.keras.experimental.LinearModel
X = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_several_inputs_are_added_up():
    model = LinearModel(kernel_initializer="ones")
    assert model({"b": X, "a": X[:, :1]}).ravel().tolist() == [1, 7, 13]
    assert LinearModel.from_config(model.get_config()).kernel_initializer.__class__ is (
        keras.initializers.Ones
    )


def test_both_parts_are_trained():
    wide = LinearModel()
    model = tf.keras.experimental.WideDeepModel(wide, keras.Sequential([keras.layers.Dense(1)]))
    model.compile("sgd", "mse")
    model.fit(X, X[:, :1], epochs=1, verbose=0)
    assert np.any(np.asarray(wide.dense_layers[0].kernel))
    with pytest.raises(ValueError, match="one optimizer"):
        model.compile(["sgd", "adam"], "mse")
