"""The estimator programs of the seed, as they stand but for the import."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from frontends import tf


def model_fn(features, labels, mode):
    layer = tf.layers.Dense(1)
    logits = layer(features)

    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"logits": logits}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)

    loss = tf.losses.mean_squared_error(labels=labels, predictions=tf.reshape(logits, []))

    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)

    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = tf.train.GradientDescentOptimizer(0.2).minimize(loss)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    features = tf.data.Dataset.from_tensors([[1.0]]).repeat(100)
    labels = tf.data.Dataset.from_tensors(1.0).repeat(100)
    return tf.data.Dataset.zip((features, labels))


def eval_input_fn():
    return input_fn().take(2)


@pytest.mark.parametrize("devices", [1, 2])
def test_on_one_machine(devices, tmp_path):
    distribution = tf.contrib.distribute.MirroredStrategy([f"cpu:{i}" for i in range(devices)])
    config = tf.estimator.RunConfig(train_distribute=distribution)
    classifier = tf.estimator.Estimator(model_fn=model_fn, config=config, model_dir=tmp_path)
    classifier.train(input_fn=input_fn)
    assert classifier.evaluate(input_fn=eval_input_fn)["loss"] < 1e-6
    (prediction,) = classifier.predict(lambda: tf.data.Dataset.from_tensors([[1.0]]))
    assert prediction["logits"].tolist() == pytest.approx([1.0], abs=1e-3)
    assert classifier.get_variable_names() == ["dense/bias", "dense/kernel", "global_step"]


def model_main():
    distribution = tf.contrib.distribute.CollectiveAllReduceStrategy()
    config = tf.estimator.RunConfig(train_distribute=distribution)
    estimator = tf.estimator.Estimator(model_fn=model_fn, config=config, model_dir=sys.argv[1])
    train_spec = tf.estimator.TrainSpec(input_fn=input_fn)
    eval_spec = tf.estimator.EvalSpec(input_fn=eval_input_fn)
    tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)


@pytest.mark.slow
@pytest.mark.multiprocess
def test_with_tf_config_as_three_workers(tmp_path):
    from tests.ports import free_addresses

    cluster = {"worker": free_addresses(3)}
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", __name__, str(tmp_path / "model")],
            env=os.environ
            | {
                "TF_CONFIG": json.dumps(
                    {"cluster": cluster, "task": {"type": "worker", "index": i}}
                )
            },
            cwd=Path(__file__).parents[4],
        )
        for i in range(3)
    ]
    assert [worker.wait(240) for worker in workers] == [0, 0, 0]
    estimator = tf.estimator.Estimator(model_fn=model_fn, model_dir=tmp_path / "model")
    assert estimator.evaluate(input_fn=eval_input_fn)["loss"] < 1e-6


if __name__ == "__main__":
    model_main()
