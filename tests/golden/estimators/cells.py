"""Recurrent networks of `tf.compat.v1.nn`: cells in loops of the program and of Python, in both directions."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.golden.estimators.base import Log, folder, recorded, variables, wave, waves
from tests.golden.scenarios.base import Case, Setting, f32


@recorded("estimator.cells", "cells")
def cells(s: Setting) -> Iterator[Case]:
    tf, v1 = s.tf, s.tf.compat.v1
    cell = v1.nn.rnn_cell
    x, lengths = wave([4, 5, 3], 0.2, 1.0), np.array([2, 5, 3, 4], np.int32)

    def dynamic(x: Any, lengths: Any) -> Any:
        return v1.nn.dynamic_rnn(
            cell.BasicLSTMCell(4), x, sequence_length=lengths, dtype=tf.float32
        )

    def stacked(x: Any, lengths: Any) -> Any:
        one = cell.LSTMCell(4, use_peepholes=True, num_proj=3, cell_clip=0.5)
        both = cell.MultiRNNCell([one, cell.ResidualWrapper(cell.GRUCell(3))])
        steps = tf.unstack(x, num=5, axis=1)
        return v1.nn.static_rnn(both, steps, sequence_length=lengths, dtype=tf.float32)

    def both_ways(x: Any, lengths: Any) -> Any:
        two = cell.GRUCell(4), cell.BasicRNNCell(4)
        return v1.nn.bidirectional_dynamic_rnn(*two, x, lengths, dtype=tf.float32)

    def network(build: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            with v1.variable_scope("", initializer=waves(tf)):
                found = tf.nest.flatten(build(features["x"], features["lengths"]))
            losses = [tf.reduce_mean(tf.square(one - 0.1 * i)) for i, one in enumerate(found)]
            loss = tf.add_n(losses)
            optimizer = v1.train.GradientDescentOptimizer(0.1)
            train_op = optimizer.minimize(loss, v1.train.get_global_step())
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

        return model_fn

    def trained(build: Callable[[Any, Any], Any]) -> Any:
        data = {"x": f32(x), "lengths": lengths}
        with Log():
            estimator = tf.estimator.Estimator(network(build), folder())
            estimator.train(lambda: tf.data.Dataset.from_tensors(data).repeat(3))
        return variables(estimator)

    for build in (dynamic, stacked, both_ways):
        yield f"sgd/{build.__name__}", lambda build=build: trained(build)
