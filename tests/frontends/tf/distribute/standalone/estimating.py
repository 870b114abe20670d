"""A program whose estimator trains in a cluster; prints what it found, in JSON.

python estimating.py CLUSTER FOLDER [STEPS]
"""

import json
import sys

import numpy as np

from frontends import tf

X = np.arange(16, dtype=np.float32).reshape(16, 1) / 16


def model_fn(features, labels, mode, params):
    hidden = tf.layers.dense(
        features, 3, tf.nn.tanh, kernel_initializer=tf.constant_initializer(0.3)
    )
    scale = tf.Variable(tf.ones([1]) * 2, name="scale")
    y = scale * tf.layers.dense(hidden, 1, kernel_initializer=tf.ones_initializer())
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": y})
    loss = tf.losses.mean_squared_error(labels, y)
    tf.summary.scalar("size", tf.reduce_mean(y))
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, y)}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    rate = tf.train.exponential_decay(0.1, tf.train.get_global_step(), 4, 0.9)
    optimizer = tf.train.AdamOptimizer(rate)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    hook = tf.train.LoggingTensorHook(
        {"loss": tf.identity(loss, name="own")}, every_n_iter=1, formatter=params["logged"]
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[hook])


class Logged:
    """Notes what a hook logs."""

    def __init__(self):
        self.losses = []

    def __deepcopy__(self, memo):
        return self  # an estimator copies its parameters

    def __call__(self, values):
        self.losses.append(float(values["loss"]))
        return f"own loss: {values['loss']}"


def input_fn(input_context=None):
    rows = tf.data.Dataset.from_tensor_slices((X, 3 * X + 1))
    if input_context is not None and input_context.num_input_pipelines > 1:
        rows = rows.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    return rows.repeat().batch(4)


def eval_input_fn():
    return tf.data.Dataset.from_tensor_slices((X, 3 * X + 1)).batch(4)


def train(folder, steps, **distribute):
    logged = Logged()
    config = tf.estimator.RunConfig(
        folder, save_checkpoints_steps=4, log_step_count_steps=2, **distribute
    )
    estimator = tf.estimator.Estimator(model_fn, config=config, params={"logged": logged})
    metrics, _ = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(input_fn, max_steps=steps),
        tf.estimator.EvalSpec(eval_input_fn, steps=None, throttle_secs=0),
    )
    return {
        "metrics": {name: float(value) for name, value in metrics.items()},
        "replicas": estimator.config.train_distribute.num_replicas_in_sync,
        "y": [float(one["y"][0]) for one in estimator.predict(eval_input_fn)],
        "losses": logged.losses,
        "names": estimator.get_variable_names(),
    }


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    given = tf.contrib.distribute.DistributeConfig(
        train_distribute=tf.contrib.distribute.CollectiveAllReduceStrategy(num_gpus_per_worker=1),
        remote_cluster=json.loads(sys.argv[1]),
    )
    found = train(sys.argv[2], int(sys.argv[3]), experimental_distribute=given)
    print(json.dumps(found))
