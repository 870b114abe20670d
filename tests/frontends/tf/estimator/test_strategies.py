"""Strategies of `RunConfig`: each trains as `MirroredStrategy` does, with the same batches."""

import numpy as np
import pytest

from frontends import tf

X = np.arange(32, dtype=np.float32).reshape(16, 2) / 32
Y = X.sum(1, keepdims=True)


def model_fn(features, labels, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN
    net = tf.layers.dense(features, 3, kernel_initializer=tf.constant_initializer(0.3))
    net = tf.layers.batch_normalization(net, training=training)
    y = tf.layers.dense(net, 1, kernel_initializer=tf.ones_initializer())
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=y)
    loss = tf.losses.mean_squared_error(labels, y)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, y)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        step = tf.train.get_global_step()
        train_op = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(batch):
    return lambda: tf.data.Dataset.from_tensor_slices((X, Y)).repeat(4).batch(batch)


def results(folder, strategy, batch=4):
    config = tf.estimator.RunConfig(folder, train_distribute=strategy, eval_distribute=strategy)
    estimator = tf.estimator.Estimator(model_fn, config=config)
    estimator.train(input_fn(batch), max_steps=6)
    metrics = estimator.evaluate(input_fn(batch))
    names = estimator.get_variable_names()
    return metrics, {name: estimator.get_variable_value(name) for name in names}


def check(found, expected):
    assert found[0] == pytest.approx(expected[0], rel=1e-5)
    assert found[1].keys() == expected[1].keys()
    for name, value in found[1].items():
        np.testing.assert_allclose(value, expected[1][name], rtol=1e-4, atol=1e-6, err_msg=name)


def mirrored(count):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def central_storage(count):
    names = [f"cpu:{index}" for index in range(count)]
    return tf.distribute.experimental.CentralStorageStrategy(names)


def test_one_device(tmp_path):
    expected = results(tmp_path / "a", mirrored(1))
    check(results(tmp_path / "b", tf.distribute.OneDeviceStrategy("/cpu:0")), expected)
    check(results(tmp_path / "c", None), expected)


def test_central_storage(tmp_path):
    check(results(tmp_path / "a", central_storage(2)), results(tmp_path / "b", mirrored(2)))


def test_tpu(tmp_path, simulate):
    expected = results(tmp_path / "a", mirrored(2))
    simulate("tpu:2")
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    check(results(tmp_path / "b", tf.distribute.TPUStrategy(resolver)), expected)
