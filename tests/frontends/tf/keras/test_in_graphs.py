"""Layers of Keras in model functions of estimators."""

import numpy as np
import pytest

from frontends import tf

layers = tf.keras.layers
X = np.arange(32, dtype=np.float32).reshape(16, 2) / 16
Y = X @ np.array([[1.0], [-0.5]], np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(4)


def rows():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


def model_fn_of(call, more=lambda: []):
    """A regression; `call(features, training)` computes it, and `more()` gives what is to run besides."""

    def model_fn(features, labels, mode):
        y = call(features, mode == tf.estimator.ModeKeys.TRAIN)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
        loss = tf.reduce_mean(tf.square(y - labels))
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
        train_op = optimizer.minimize(loss, tf.compat.v1.train.get_or_create_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.group(train_op, *more()))

    return model_fn


def estimator(folder, model_fn, devices=1):
    strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(devices)])
    config = tf.estimator.RunConfig(train_distribute=strategy, tf_random_seed=3)
    return tf.estimator.Estimator(model_fn, folder, config)


def test_each_call_of_a_layer_is_a_name_scope_of_its_own():
    def model_fn(features, labels, mode):
        first, second = (layers.Dense(1, name="a") for _ in range(2))
        y = first(features) + first(features) + second(features)
        found.append([one.name for one in tf.compat.v1.trainable_variables()])
        return tf.estimator.EstimatorSpec(mode, predictions=y)

    found = []
    assert len(list(tf.estimator.Estimator(model_fn).predict(rows))) == len(X)
    names = ["a/kernel:0", "a/bias:0", "a_2/kernel:0", "a_2/bias:0"]  # a_1 is the second call
    assert all(some == names for some in found)


def test_layers_find_their_variables_again(tmp_path):
    seen = []

    def call(features, training):
        model = tf.keras.Sequential([layers.Dense(3, input_shape=(2,)), layers.Dense(1)])
        y = model(features)
        seen.append([one.name for one in tf.compat.v1.trainable_variables()])
        return y

    one = estimator(tmp_path, model_fn_of(call))
    one.train(input_fn, steps=2)
    before = one.evaluate(rows)["loss"]
    weights = {name: one.get_variable_value(name) for name in one.get_variable_names()}
    one.train(input_fn, steps=10)
    assert one.evaluate(rows)["loss"] < before
    names = ["dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"]
    assert sorted(weights) == sorted([*names, "global_step"])
    assert all(some == [f"{name}:0" for name in names] for some in seen)
    found = next(one.predict(rows, checkpoint_path=f"{tmp_path}/model.ckpt-2"))
    hidden = X[0] @ weights["dense/kernel"] + weights["dense/bias"]
    expected = hidden @ weights["dense_1/kernel"] + weights["dense_1/bias"]
    np.testing.assert_allclose(found["y"], expected, rtol=1e-5)


@pytest.mark.parametrize("devices", [1, 2])
def test_averages_move_if_updates_are_fetched(tmp_path, devices):
    assert len(tf.config.list_logical_devices()) >= devices
    made = []

    def call(features, training):
        layer = layers.BatchNormalization(momentum=0.5)
        y = layers.Dense(1)(layer(features, training=training))
        made[:] = [layer]
        assert layer.get_updates_for(None) == []
        assert layer.get_updates_for(features) == layer.updates
        return y

    def moved(folder, more):
        one = estimator(folder, model_fn_of(call, more), devices)
        one.train(input_fn, steps=1)
        return one.get_variable_value("batch_normalization/moving_mean")

    mean = X[: 4 * devices].mean(0)
    np.testing.assert_allclose(moved(tmp_path / "a", lambda: made[0].updates), mean / 2, rtol=1e-5)
    np.testing.assert_array_equal(moved(tmp_path / "b", list), [0, 0])


def test_a_model_of_a_class_of_its_own_makes_variables_while_shapes_are_inferred(tmp_path):
    class Scale(layers.Layer):
        def build(self, input_shape):
            self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="ones")

        def call(self, inputs):
            return inputs * self.scale

    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.last = Scale(), layers.Dense(1, kernel_regularizer="l2")

        def call(self, inputs):
            return self.last(self.first(inputs))

    one = estimator(tmp_path, model_fn_of(lambda features, training: Net()(features)), 2)
    one.train(input_fn, steps=1)
    assert one.get_variable_names() == [
        "global_step",
        "net/dense/bias",
        "net/dense/kernel",
        "net/scale/scale",
    ]
    assert not np.array_equal(one.get_variable_value("net/scale/scale"), [1, 1])


def test_dropout_draws_anew_in_each_step_and_initial_values_follow_the_seed(tmp_path):
    shares = []

    class Hook(tf.compat.v1.train.SessionRunHook):
        def before_run(self, run_context):
            return tf.compat.v1.train.SessionRunArgs("kept:0")

        def after_run(self, run_context, run_values):
            shares.append(np.asarray(run_values.results))

    def call(features, training):
        kept = layers.Dropout(0.5)(tf.ones([4, 8]), training=training)
        tf.identity(kept, name="kept")
        return layers.Dense(1)(features)

    found = []
    for name in ("a", "b"):
        one = estimator(tmp_path / name, model_fn_of(call))
        one.train(input_fn, hooks=[Hook()], steps=2)
        found.append(one.get_variable_value("dense/kernel"))
    np.testing.assert_array_equal(*found)
    assert set(np.unique(shares)) == {0, 2}
    assert not np.array_equal(shares[0], shares[1])
    np.testing.assert_array_equal(shares[:2], shares[2:])


def test_a_model_made_outside_is_refused(tmp_path):
    model = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(1)])
    one = estimator(tmp_path, model_fn_of(lambda features, training: model(features)))
    with pytest.raises(ValueError, match=r"made outside.*\n?.*model_to_estimator\(model\)"):
        one.train(input_fn, steps=1)


def test_a_layer_made_outside_may_be_built_in_the_model_function(tmp_path):
    layer = layers.Dense(1, name="outside")
    one = estimator(tmp_path, model_fn_of(lambda features, training: layer(features)))
    one.train(input_fn, steps=2)
    assert one.get_variable_names() == ["global_step", "outside/bias", "outside/kernel"]
    assert one.get_variable_value("outside/bias") != 0


def test_names_outside_go_on(tmp_path):
    tf.keras.backend.clear_session()
    layers.Dense(1)
    one = estimator(tmp_path, model_fn_of(lambda features, training: layers.Dense(1)(features)))
    one.train(input_fn, steps=1)
    assert layers.Dense(1).name == "dense_1"
    assert layers.Dense(1).updates == []
