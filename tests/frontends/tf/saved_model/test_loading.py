"""Models that are loaded without their code: what signatures take and give, also in a replica."""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import json

import numpy as np
import pytest

from frontends import tf

X = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def model():
    keras = tf.keras
    model = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(4), keras.layers.BatchNormalization()]
    )
    model.compile("sgd", "mse")
    model.fit(X, np.ones((8, 4)), verbose=0)
    return model


@pytest.fixture(scope="module")
def path(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model"
    tf.saved_model.save(
        model, path, options=tf.saved_model.SaveOptions(experimental_io_device="/job:localhost")
    )
    return path


@pytest.fixture(scope="module")
def expected(model):
    return model.predict(X, verbose=0)


def test_a_signature_takes_and_gives_names(path, expected):
    serve = tf.saved_model.load(path).signatures["serving_default"]
    assert [str(spec) for spec in serve.inputs] == ["inputs: float32[None, 3]"]
    assert [str(spec) for spec in serve.outputs] == ["output_0: float32[None, 4]"]
    for rows in (8, 3):
        np.testing.assert_allclose(
            serve(inputs=X[:rows])["output_0"], expected[:rows], atol=1e-6, rtol=0
        )
    assert list(serve(tf.constant(X))) == ["output_0"]


def test_a_loaded_model_can_be_called(path, expected):
    loaded = tf.saved_model.load(path, options=tf.saved_model.LoadOptions())
    np.testing.assert_allclose(loaded(X), expected, atol=1e-6, rtol=0)
    np.testing.assert_allclose(loaded(X, training=False), expected, atol=1e-6, rtol=0)
    with pytest.raises(ValueError, match="only predicts"):
        loaded(X, training=True)


def test_variables_are_there_and_can_be_changed(path):
    loaded = tf.saved_model.load(path)
    assert len(loaded.variables) == 6
    assert len(loaded.trainable_variables) == 4
    for variable in loaded.variables:
        variable.assign(tf.zeros_like(variable))
    np.testing.assert_array_equal(loaded(X), np.zeros((8, 4)))


@pytest.mark.parametrize("rows", [8, 5])
def test_a_strategy_runs_a_signature(path, expected, rows):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    dataset = tf.data.Dataset.from_tensor_slices(X[:rows]).batch(8)
    with strategy.scope():
        serve = tf.saved_model.load(path).signatures["serving_default"]
        (batch,) = strategy.experimental_distribute_dataset(dataset)
        outputs = strategy.gather(strategy.run(serve, args=(batch,))["output_0"], axis=0)
    np.testing.assert_allclose(outputs, expected[:rows], atol=1e-6, rtol=0)


def test_a_function_may_use_a_loaded_model(path, expected):
    loaded = tf.saved_model.load(path)

    @tf.function
    def predict(x):
        return loaded(x) * 2

    np.testing.assert_allclose(predict(X), expected * 2, atol=1e-5, rtol=0)
    for variable in loaded.variables:
        variable.assign(tf.zeros_like(variable))
    np.testing.assert_array_equal(predict(X), np.zeros((8, 4)))


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "message"),
    [
        ((), {"x": X}, TypeError, r"takes inputs: float32\[None, 3\], by name, but got x"),
        ((), {}, TypeError, "but got nothing"),
        ((X, X), {}, TypeError, "an array without a name"),
        ((X.astype(np.int32),), {}, TypeError, r"tf\.cast\(inputs, tf\.float32\)"),
        ((X[:, :2],), {}, ValueError, r"got an array of shape \(8, 2\)"),
    ],
)
def test_other_inputs_are_refused(path, args, kwargs, error, message):
    serve = tf.saved_model.load(path).signatures["serving_default"]
    with pytest.raises(error, match=message):
        serve(*args, **kwargs)


def test_a_call_with_too_many_inputs_is_refused(path):
    with pytest.raises(TypeError, match=r"but got 2 array\(s\)"):
        tf.saved_model.load(path)(X, X)


def test_contains_saved_model(path, tmp_path):
    assert tf.saved_model.contains_saved_model(path)
    assert not tf.saved_model.contains_saved_model(tmp_path)


def test_a_machine_without_keras_loads_and_predicts(path, expected, run_python):
    code = f"""
import json, sys
sys.modules["keras"] = None
from frontends import tf
serve = tf.saved_model.load({str(path)!r}).signatures["serving_default"]
x = tf.constant(json.loads(sys.stdin.read()), tf.float32)
print(json.dumps(serve(inputs=x)["output_0"].numpy().tolist()))
"""
    done = run_python("-c", code, input=json.dumps(X.tolist()).encode())
    np.testing.assert_allclose(json.loads(done.stdout), expected, atol=1e-6, rtol=0)


def test_a_model_goes_to_a_store_and_is_replaced_there(bucket):
    class Scaled(tf.Module):
        def __init__(self, factor):
            self.factor = tf.Variable(factor)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def __call__(self, x):
            return self.factor * x

    for factor in (2.0, 3.0):
        tf.saved_model.save(Scaled(factor), f"{bucket}/model")
        assert tf.saved_model.contains_saved_model(f"{bucket}/model")
        assert tf.saved_model.load(f"{bucket}/model")(tf.constant(2.0)).numpy() == 2 * factor
    tf.io.write_file(f"{bucket}/other/mine", "mine")
    with pytest.raises(ValueError, match="is not a saved model that could be replaced"):
        tf.saved_model.save(Scaled(1.0), f"{bucket}/other")
    with pytest.raises(FileNotFoundError):
        tf.saved_model.load(f"{bucket}/none")
