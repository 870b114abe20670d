"""The convolutional network of TensorFlow 1's tutorial, as an estimator under MirroredStrategy."""

import tempfile
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs import digits
from tests.benchmarks.programs.weights import initial
from tests.benchmarks.turns import Ready

BATCH, STEPS = 128, 30


def mnist(tf: Any, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """One call of `train`, which waits after every so many steps until it is this program's turn."""
    v1 = tf.compat.v1
    # In graphs, TensorFlow's other ways wait for each other for ever where there are as few cores as devices.
    strategy = tf.distribute.MirroredStrategy(
        [f"CPU:{i}" for i in range(devices)],
        cross_device_ops=tf.distribute.ReductionToOneDevice(),
    )
    images, labels = digits.scaled(path, BATCH * STEPS)

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        generator = np.random.default_rng(0)

        def kernel(*shape: int) -> Any:
            return v1.constant_initializer(initial(generator, shape))

        net = v1.layers.conv2d(
            features,
            32,
            5,
            padding="same",
            activation=tf.nn.relu,
            kernel_initializer=kernel(5, 5, 1, 32),
        )
        net = v1.layers.max_pooling2d(net, 2, 2)
        net = v1.layers.conv2d(
            net,
            64,
            5,
            padding="same",
            activation=tf.nn.relu,
            kernel_initializer=kernel(5, 5, 32, 64),
        )
        net = v1.layers.max_pooling2d(net, 2, 2)
        net = v1.layers.flatten(net)
        net = v1.layers.dense(
            net, 128, activation=tf.nn.relu, kernel_initializer=kernel(7 * 7 * 64, 128)
        )
        logits = v1.layers.dense(net, 10, kernel_initializer=kernel(128, 10))
        loss = v1.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
        tf.identity(loss, name="own_loss")
        optimizer = v1.train.AdamOptimizer(1e-3)
        train_op = optimizer.minimize(loss, global_step=v1.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def dataset(images: Any, labels: Any) -> Any:
        return tf.data.Dataset.from_tensor_slices((images, labels))

    def first_rows() -> Any:
        return dataset(images[:BATCH], labels[:BATCH]).repeat().batch(BATCH // devices)

    def all_rows() -> Any:
        rows = dataset(images, labels).shuffle(10_000).repeat()
        return rows.batch(BATCH // devices).prefetch(tf.data.AUTOTUNE)

    class Turns(v1.train.SessionRunHook):
        """Waits before the first step of a turn, and reads the loss of the last one."""

        def __init__(self, steps: int) -> None:
            self.steps, self.count, self.loss = steps, 0, 0.0
            self.begins, self.ended = threading.Semaphore(0), threading.Semaphore(0)

        def before_run(self, run_context: Any) -> Any:
            if self.count % self.steps == 0:
                self.begins.acquire()
            self.count += 1
            ends = self.count % self.steps == 0
            return v1.train.SessionRunArgs("own_loss:0") if ends else None

        def after_run(self, run_context: Any, run_values: Any) -> None:
            if run_values.results is not None:
                self.loss = float(run_values.results)
                self.ended.release()

    def train(input_fn: Any, hook: Turns, steps: int | None) -> None:
        config = tf.estimator.RunConfig(tempfile.mkdtemp(), train_distribute=strategy)
        tf.estimator.Estimator(model_fn, config=config).train(input_fn, [hook], steps=steps)

    first = Turns(3)
    first.begins.release()
    train(first_rows, first, 3)

    hook = Turns(STEPS)
    threading.Thread(target=train, args=(all_rows, hook, None), daemon=True).start()

    def turn() -> None:
        hook.begins.release()
        hook.ended.acquire()

    turn()
    return Ready(STEPS, first.loss), turn
