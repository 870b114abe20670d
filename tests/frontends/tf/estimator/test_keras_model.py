"""Models of Keras as estimators."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.estimator.canned.data import FEATURES, LABELS, batches

keras = tf.keras


def _model(rate=0.1, **options):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, name="score", **options)])
    model.compile(keras.optimizers.SGD(rate), "mse", metrics=["mae"])
    return model


def _rows(size=32, epochs=None):
    return batches(LABELS.astype(np.float32), size, epochs, {"x": FEATURES["x"]})


def test_it_starts_at_the_models_weights_and_trains_as_fit_does(tmp_path):
    model = _model()
    estimator = keras.estimator.model_to_estimator(model, model_dir=tmp_path)
    before = model.get_weights()
    estimator.train(_rows(), steps=2)
    np.testing.assert_array_equal(model.get_weights()[0], before[0])
    x, y = FEATURES["x"], LABELS.astype(np.float32)
    model.fit(x, y, batch_size=32, shuffle=False, verbose=0)
    np.testing.assert_allclose(
        estimator.get_variable_value("score/kernel"), model.get_weights()[0], rtol=1e-5, atol=1e-6
    )
    found = estimator.evaluate(_rows(epochs=1))
    loss, mae = model.evaluate(x, y, verbose=0)
    assert found["loss"] == pytest.approx(loss, rel=1e-5)
    assert found["mae"] == pytest.approx(mae, rel=1e-5)
    row = next(iter(estimator.predict(_rows(epochs=1))))
    np.testing.assert_allclose(row["score"], model.predict(x[:1], verbose=0)[0], rtol=1e-5)


def test_a_model_that_begins_with_an_embedding_needs_no_input(tmp_path):
    layers = [keras.layers.Embedding(5, 3), keras.layers.GlobalAveragePooling1D()]
    model = keras.Sequential([*layers, keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    keras.estimator.model_to_estimator(model, model_dir=tmp_path)
    assert [tuple(one.shape) for one in model.weights] == [(5, 3), (3, 1), (1,)]


def test_moving_averages_move(tmp_path):
    x = keras.Input((2,), name="x")
    net = keras.layers.Dropout(0.5)(keras.layers.BatchNormalization(name="norm")(x))
    model = keras.Model(x, keras.layers.Dense(2, "softmax")(net))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    estimator = keras.estimator.model_to_estimator(model, model_dir=tmp_path)
    estimator.train(batches(), steps=1)
    assert (estimator.get_variable_value("norm/moving_variance") != 1).all()
    assert 0 <= estimator.evaluate(batches(epochs=1))["accuracy"] <= 1


def test_features_and_labels_are_by_the_names_of_inputs_and_outputs(tmp_path):
    inputs = {"x": keras.Input((2,), name="x"), "w": keras.Input((1,), name="w")}
    both = keras.layers.Concatenate()([inputs["x"], inputs["w"]])
    outputs = [keras.layers.Dense(1, name=name)(both) for name in ("a", "b")]
    model = keras.Model(inputs, outputs)
    model.compile("sgd", ["mse", "mae"], loss_weights=[1.0, 0.5])
    estimator = keras.estimator.model_to_estimator(model, model_dir=tmp_path)
    y, w = LABELS.astype(np.float32), np.ones((len(LABELS), 1), np.float32)
    rows = batches({"a": y, "b": -y}, features={"x": FEATURES["x"], "w": w}, epochs=1)
    found = estimator.evaluate(rows)
    expected = model.evaluate({"x": FEATURES["x"], "w": w}, [y, -y], verbose=0)
    assert found["loss"] == pytest.approx(np.ravel(expected)[0], rel=1e-4)
    assert set(next(iter(estimator.predict(rows)))) == {"a", "b"}
    with pytest.raises(KeyError, match=r"lack inputs of the model: \['w'\]"):
        estimator.evaluate(batches({"a": y, "b": y}))


def test_what_is_missing_is_said():
    make = keras.estimator.model_to_estimator
    with pytest.raises(ValueError, match="either keras_model or keras_model_path"):
        make()
    with pytest.raises(ValueError, match="has not been compiled"):
        make(keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)]))
    unbuilt = keras.Sequential([keras.layers.Dense(1)])
    unbuilt.compile("sgd", "mse")
    with pytest.raises(ValueError, match="has no weights yet"):
        make(unbuilt)
    with pytest.raises(ValueError, match="Checkpoint format"):
        make(_model(), checkpoint_format="zip")
