"""The convolutional network of TensorFlow 1's tutorial on estimators, its import line changed: several devices, hooks, evaluation.

    python examples/estimator_mnist.py --devices 2

The digits come with the repository. In TensorFlow the marked line was `import tensorflow as tf` up to 1.15, and
`import tensorflow.compat.v1 as tf` up to 2.15, the last version that has estimators.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from _devices import HELP, mirrored_strategy
from _digits import load

from frontends import tf  # was: import tensorflow as tf

parser = argparse.ArgumentParser(description="Train an estimator on MNIST.")
parser.add_argument("--devices", type=int, help=HELP)
parser.add_argument("--steps", type=int, default=400, help="how many (default: 400)")
parser.add_argument("--batch-size", type=int, default=64, help="rows of all replicas (default: 64)")
parser.add_argument(
    "--output", type=Path, help="where checkpoints and summaries go (default: a temporary folder)"
)
arguments = parser.parse_args()


def model_fn(features, labels, mode):
    net = tf.layers.conv2d(features, 32, 5, padding="same", activation=tf.nn.relu)
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.conv2d(net, 32, 5, padding="same", activation=tf.nn.relu)
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.flatten(net)
    net = tf.layers.dense(net, 128, activation=tf.nn.relu)
    net = tf.layers.dropout(net, rate=0.4, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = tf.layers.dense(net, 10)
    classes = tf.argmax(logits, axis=1)

    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"classes": classes, "probabilities": tf.nn.softmax(logits)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)

    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    tf.identity(loss, name="own_loss")

    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels=labels, predictions=classes)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)

    optimizer = tf.train.AdamOptimizer(learning_rate=0.001)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def dataset_of(images, labels):
    scaled = images.astype(np.float32) / 255
    return tf.data.Dataset.from_tensor_slices((scaled, labels.astype(np.int32)))


class Progress(tf.train.SessionRunHook):
    """Prints a line after every so many steps."""

    def __init__(self, every):
        self.every, self.seconds, self.done = every, time.time(), 0

    def before_run(self, run_context):
        self.done += 1
        if self.done % self.every == 0:
            return tf.train.SessionRunArgs("own_loss:0")

    def after_run(self, run_context, run_values):
        if run_values.results is not None:
            now = time.time()
            speed = self.every / (now - self.seconds)
            self.seconds = now
            print(f"Step {self.done}: loss {run_values.results:.4f}, {speed:.0f} steps/s")


strategy = mirrored_strategy(arguments.devices)
train, test = load("train"), load("test")
print(f"Digits: {len(train[0]):,} to train on, {len(test[0]):,} to test on")

# An input_fn is for one replica, so each takes its share of the batch.
batch_size = arguments.batch_size // strategy.num_replicas_in_sync


def train_input_fn():
    return dataset_of(*train).shuffle(10_000, seed=0).repeat().batch(batch_size)


def eval_input_fn():
    return dataset_of(*test).batch(arguments.batch_size)


config = tf.estimator.RunConfig(
    model_dir=arguments.output, train_distribute=strategy, save_checkpoints_steps=200
)
estimator = tf.estimator.Estimator(model_fn=model_fn, config=config)
metrics, _ = tf.estimator.train_and_evaluate(
    estimator,
    tf.estimator.TrainSpec(train_input_fn, max_steps=arguments.steps, hooks=[Progress(50)]),
    tf.estimator.EvalSpec(eval_input_fn, steps=None, throttle_secs=0),
)
print(f"Test accuracy after {metrics['global_step']} steps: {metrics['accuracy']:.1%}")

first = next(estimator.predict(eval_input_fn))
certainty = first["probabilities"][first["classes"]]
print(
    f"The first digit is a {first['classes']}, with {certainty:.1%} certainty: it is a {test[1][0]}"
)
print(f"Checkpoints and summaries: tensorboard --logdir={estimator.model_dir}")
