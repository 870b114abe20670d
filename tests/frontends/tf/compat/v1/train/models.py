"""What tests of `tf.compat.v1.train` share: a model function as an estimator traces it."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from frontends import tf
from frontends.tf.graph import Graph, VariableStore

X = np.sin(np.arange(24, dtype=np.float32)).reshape(8, 3)
Y = (X @ np.array([[1.0], [-2.0], [0.5]]) + 0.25).astype(np.float32)


class Model:
    """A model function as a step: its operations run in each call."""

    def __init__(
        self, function: Callable[..., Any], *, trains: bool = True, scales_loss: bool = False
    ) -> None:
        self.store = VariableStore()
        self.function, self.trains, self.scales_loss = function, trains, scales_loss

    def __call__(self, *args: Any) -> Any:
        tape = tf.GradientTape(persistent=True) if self.trains else None
        graph = Graph(self.store, tape)
        graph.scales_loss = self.scales_loss
        with graph.as_default(), tape or contextlib.nullcontext():
            result, operations = self.function(*args)
        graph.run(operations)
        return result

    def value(self, name: str) -> Any:
        return self.store.variables[name].numpy()

    def names(self) -> list[str]:
        return sorted(self.store.variables)


def run(model: Model, replicas: int, steps: int, x: Any = X, y: Any = Y) -> list[Any]:
    """Runs a model function on batches for all replicas; gives the results of the first one."""
    strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(replicas)])
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(len(x)).repeat(steps)
    step = tf.function(lambda x, y: strategy.run(model, args=(x, y)))
    return [
        float(strategy.experimental_local_results(step(*batch))[0])
        for batch in strategy.experimental_distribute_dataset(data)
    ]


def linear(optimizer: Callable[[], Any], **options: Any) -> Callable[..., Any]:
    """Makes the model function of a linear regression."""
    v1 = tf.compat.v1

    def model_fn(x: Any, y: Any) -> Any:
        step = v1.train.get_or_create_global_step()
        with v1.variable_scope("dense"):
            kernel = v1.get_variable("kernel", [3, 1], initializer=tf.zeros_initializer())
            bias = v1.get_variable("bias", [1], initializer=tf.zeros_initializer())
        loss = v1.losses.mean_squared_error(y, x @ kernel + bias, **options)
        return loss, optimizer().minimize(loss, step)

    return model_fn
