"""Batch normalization in steps and replicas; numbers of single calls are in tests/golden/scenarios/layers.py."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph, VariableStore, current_graph

v1 = tf.compat.v1


def numbers(*shape):
    return np.sin(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape)


def moments(x):
    return x.mean(0), x.var(0)


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def test_updates_happen_when_they_are_fetched():
    x = numbers(6, 3)
    with Graph().as_default() as graph:
        layer = v1.layers.BatchNormalization(momentum=0.5)
        with tf.name_scope("tower"):
            layer(x, training=True)
        assert layer.moving_mean.numpy().tolist() == [0, 0, 0]
        updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS, scope="tower")
        names = ["AssignMovingAvg", "AssignMovingAvg_1"]
        assert [one.name for one in updates] == [f"tower/batch_normalization/{n}" for n in names]
        with tf.control_dependencies(updates):
            train = tf.no_op()
        graph.run(train)
    mean, variance = moments(x)
    np.testing.assert_allclose(layer.moving_mean.numpy(), mean / 2, rtol=1e-5)
    np.testing.assert_allclose(layer.moving_variance.numpy(), (1 + variance) / 2, rtol=1e-5)


def test_outside_of_a_model_function_averages_change_at_once():
    layer = v1.layers.BatchNormalization(momentum=0.5)
    layer(np.full((2, 3), 4, np.float32), training=True)
    assert layer.updates == []
    assert layer.moving_mean.numpy().tolist() == [2, 2, 2]
    layer(np.full((2, 3), 4, np.float32))
    assert layer.moving_mean.numpy().tolist() == [2, 2, 2]


def test_padding_does_not_count(strategy):
    x = numbers(5, 3) + 3
    rows = tf.data.Dataset.from_tensor_slices(x).batch(8)
    (batch,) = strategy.experimental_distribute_dataset(rows)
    store = VariableStore()

    def replica(x):
        graph = Graph(store)
        with graph.as_default():
            result = v1.layers.batch_normalization(x, momentum=0.5, training=True)
            graph.run(v1.get_collection(v1.GraphKeys.UPDATE_OPS))
        return result

    first, second = strategy.run(replica, args=(batch,)).values
    parts = x[:3], x[3:]
    for result, part in zip((first, second), parts, strict=True):
        mean, variance = moments(part)
        expected = (part - mean) / np.sqrt(variance + 1e-3)
        np.testing.assert_allclose(np.asarray(result)[: len(part)], expected, rtol=1e-4, atol=1e-5)
    means, variances = zip(*map(moments, parts), strict=True)
    kept = store.variables["batch_normalization/moving_mean"]
    np.testing.assert_allclose(np.stack([one.value() for one in kept.values]), np.stack(means) / 2)
    np.testing.assert_allclose(kept.numpy(), np.mean(means, 0) / 2, rtol=1e-5)
    kept = store.variables["batch_normalization/moving_variance"]
    np.testing.assert_allclose(kept.numpy(), (1 + np.mean(variances, 0)) / 2, rtol=1e-5)


def test_a_replica_without_rows_keeps_its_averages(strategy):
    x = numbers(1, 2, 2, 3)
    rows = tf.data.Dataset.from_tensor_slices(x).batch(2)
    (batch,) = strategy.experimental_distribute_dataset(rows)
    store = VariableStore()

    def replica(x):
        graph = Graph(store)
        with graph.as_default():
            with tf.GradientTape() as tape:
                y = v1.layers.batch_normalization(x, momentum=0.5, training=True)
                loss = tf.nn.compute_average_loss(tf.reduce_sum(y * y, [1, 2, 3]))
            graph.run(v1.get_collection(v1.GraphKeys.UPDATE_OPS))
            return tape.gradient(loss, v1.trainable_variables())

    gradients = strategy.run(replica, args=(batch,))
    assert all(np.isfinite(one).all() for gradient in gradients for one in gradient.values)
    assert not np.asarray(gradients[0].values[1]).any()
    kept = store.variables["batch_normalization/moving_mean"]
    np.testing.assert_allclose(
        np.stack([one.value() for one in kept.values]),
        [x.mean((0, 1, 2)) / 2, [0, 0, 0]],
        rtol=1e-5,
    )


def test_an_estimator_trains_and_evaluates_with_averages(strategy, tmp_path):
    x = numbers(64, 3) * 2 + 1

    def model(features, labels, mode):
        training = mode == tf.estimator.ModeKeys.TRAIN
        y = v1.layers.batch_normalization(features, momentum=0.5, training=training)
        loss = tf.reduce_mean(tf.square(v1.layers.dense(y, 1) - labels))
        update = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        step = v1.get_collection(v1.GraphKeys.GLOBAL_STEP)[0]
        count = current_graph().operation("count", lambda: step.assign_add(1))
        with tf.control_dependencies([*update, count]):
            train = tf.no_op()
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    def data():
        labels = np.zeros((64, 1), np.float32)
        return tf.data.Dataset.from_tensor_slices((x, labels)).batch(16).repeat()

    config = tf.estimator.RunConfig(train_distribute=strategy)
    estimator = tf.estimator.Estimator(model, str(tmp_path), config)
    estimator.train(data, steps=3)
    found = estimator.get_variable_value("batch_normalization/moving_mean")
    assert np.abs(found).min() > 0.1
    assert estimator.evaluate(data, steps=1)["global_step"] == 3
    again = estimator.get_variable_value("batch_normalization/moving_mean")
    np.testing.assert_array_equal(again, found)


def test_half_precision_keeps_averages_in_full():
    layer = v1.layers.BatchNormalization()
    x = numbers(6, 3).astype(np.float16)
    assert layer(x, training=True).dtype == tf.float16
    assert layer.moving_variance.dtype == layer.gamma.dtype == tf.float32


@pytest.mark.parametrize("argument", ["renorm", "virtual_batch_size", "adjustment"])
def test_other_normalizations_are_an_error(argument):
    with pytest.raises(ValueError, match=rf"BatchNormalization\({argument}=...\) is not supported"):
        v1.layers.batch_normalization(numbers(2, 3), **{argument: 2})


@pytest.mark.parametrize("axis", [2, [0, 0], []])
def test_axes_that_do_not_exist_are_an_error(axis):
    with pytest.raises(ValueError, match="Invalid value for `axis` argument"):
        v1.layers.batch_normalization(numbers(2, 3), axis)
