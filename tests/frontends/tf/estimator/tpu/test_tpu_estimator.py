"""Estimators of TPUs: sizes of batches, what runs on the host, and cores that train together."""

import numpy as np
import pytest

from frontends import tf

X = np.arange(16, dtype=np.float32).reshape(16, 1) / 16
tpu = tf.estimator.tpu
SEEN = []


def input_fn(params):
    assert "use_tpu" not in params
    rows = tf.data.Dataset.from_tensor_slices((X, 2 * X + 1))
    return rows.repeat().batch(params["batch_size"], drop_remainder=True)


def model_fn(features, labels, mode, params):
    SEEN.append((mode, params["use_tpu"], params.get("batch_size")))
    y = tf.layers.dense(features, 1, kernel_initializer=tf.zeros_initializer(), name="d")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tpu.TPUEstimatorSpec(mode, predictions={"y": y})
    loss = tf.reduce_mean(tf.square(y - labels))
    optimizer = tf.train.MomentumOptimizer(params["rate"], 0.9)
    if params["use_tpu"]:
        optimizer = tf.tpu.CrossShardOptimizer(optimizer)
    return tpu.TPUEstimatorSpec(
        mode,
        loss=loss,
        train_op=optimizer.minimize(loss, tf.train.get_global_step()),
        eval_metrics=(
            lambda y, labels: {"error": tf.metrics.mean_absolute_error(labels, y)},
            [y, labels],
        ),
        scaffold_fn=lambda: tf.train.Scaffold(),
    )


def trained(use_tpu, folder):
    config = tpu.RunConfig(
        master="",
        model_dir=str(folder),
        tpu_config=tpu.TPUConfig(iterations_per_loop=2, num_shards=8),
    )
    estimator = tpu.TPUEstimator(
        model_fn,
        config=config,
        params={"rate": 0.1},
        use_tpu=use_tpu,
        train_batch_size=8,
        eval_batch_size=4,
        predict_batch_size=2,
    )
    SEEN.clear()
    estimator.train(input_fn, max_steps=2)
    return estimator, estimator.evaluate(input_fn, steps=2)


def test_cores_train_as_one_device_does(tmp_path, simulate):
    alone, found = trained(False, tmp_path / "alone")
    assert set(SEEN) == {("train", False, 8), ("eval", False, 4)}
    assert len(next(alone.predict(input_fn, yield_single_examples=False))["y"]) == 2
    simulate("tpu:2")
    together, same = trained(True, tmp_path / "together")
    assert set(SEEN) == {("train", True, 4), ("eval", True, 2)}
    assert same == {key: pytest.approx(value, rel=1e-5) for key, value in found.items()}
    assert found["error"] < 1.6  # it was 2.1
    for name in ("d/kernel", "d/bias/Momentum"):
        theirs = alone.get_variable_value(name)
        np.testing.assert_allclose(together.get_variable_value(name), theirs, rtol=1e-5)


def test_what_cannot_be_asked_for(simulate):
    with pytest.raises(ValueError, match=r"tf\.estimator\.tpu\.RunConfig"):
        tpu.TPUEstimator(model_fn, config=tf.estimator.RunConfig())
    config = tpu.RunConfig()
    with pytest.raises(ValueError, match="reserved keys"):
        tpu.TPUEstimator(model_fn, config=config, params={"batch_size": 2}, use_tpu=False)
    with pytest.raises(ValueError, match="cannot be `None`"):
        tpu.TPUEstimator(model_fn, config=config)
    with pytest.raises(NotImplementedError, match="embedding_column"):
        tpu.TPUEstimator(model_fn, config=config, use_tpu=False, embedding_config_spec=1)
    with pytest.raises(NotImplementedError, match="axis 0"):
        tpu.TPUEstimator(model_fn, config=config, use_tpu=False, batch_axis=[1, 0])
    simulate("tpu:4")
    with pytest.raises(ValueError, match="multiple of 4"):
        tpu.TPUEstimator(model_fn, config=config, train_batch_size=6)
    estimator = tpu.TPUEstimator(model_fn, config=config, params={"rate": 0.1}, train_batch_size=8)
    with pytest.raises(ValueError, match=r"eval_batch_size=\.\.\. to run on a TPU"):
        estimator.evaluate(input_fn, steps=1)
    with pytest.raises(
        ValueError, match=r"Write TPUEstimator\(\.\.\., predict_batch_size=\.\.\.\)"
    ):
        next(estimator.predict(input_fn))


def test_without_a_tpu_that_is_an_error():
    with pytest.raises(ValueError, match="JAXTRIBUTE_SIMULATE=tpu:8"):
        tpu.TPUEstimator(model_fn, config=tpu.RunConfig(), train_batch_size=8)
