"""A linear model as a model function, without the optimizers of TensorFlow 1, and its data."""

import numpy as np

from frontends import tf
from frontends.tf.graph import default_graph

v1 = tf.compat.v1
X = np.arange(8, dtype=np.float32).reshape(8, 1) / 8
Y = 3 * X + 1


def linear(features, labels, mode, params):
    kernel = v1.get_variable("dense/kernel", [1, 1], initializer=tf.ones_initializer())
    bias = v1.get_variable("dense/bias", [1], initializer=tf.zeros_initializer())
    y = tf.matmul(features, kernel) + bias
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": y, "x": features})
    loss = tf.reduce_mean((y - labels) ** 2)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    graph = default_graph()
    gradients = graph.tape.gradient(loss, [kernel, bias])
    gradients = tf.distribute.get_replica_context().all_reduce("MEAN", gradients)
    (global_step,) = v1.get_collection(v1.GraphKeys.GLOBAL_STEP)

    def update():
        for variable, gradient in zip((kernel, bias), gradients, strict=True):
            variable.assign_sub(params["rate"] * gradient)
        global_step.assign_add(1)

    hooks = params.get("hooks", lambda loss: [])(loss)
    train_op = graph.operation("train", update)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=hooks)


def data(repeat: int | None = 1, batch=4):
    return lambda: tf.data.Dataset.from_tensor_slices((X, Y)).repeat(repeat).batch(batch)


def by_hand(steps, rate=0.1, rows=4):
    """Trains in NumPy; returns weight, bias and the loss of each step."""
    weight, bias, losses = 1.0, 0.0, []
    for step in range(steps):
        first = step * rows % 8
        x, y = X[first : first + rows, 0], Y[first : first + rows, 0]
        error = weight * x + bias - y
        losses.append(np.mean(error**2))
        weight, bias = weight - rate * np.mean(2 * error * x), bias - rate * np.mean(2 * error)
    return weight, bias, losses
