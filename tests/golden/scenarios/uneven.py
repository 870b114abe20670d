"""Batches that do not fill all replicas: what a step counts, sums, reshapes and gathers."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import Case, Setting, f32, scenario

GROUP = "uneven"
_SIZE = 4


def _steps(tf: Any, s: Setting) -> dict[str, Any]:
    """Functions of a replica's rows that give one number or vector for each replica."""

    def variance(x):
        return tf.reduce_sum(tf.square(x - tf.reduce_mean(x, 0)))

    return {
        "sum": tf.reduce_sum,
        "sum_rows": lambda x: tf.reduce_sum(x, axis=0),
        "mean": lambda x: tf.reduce_sum(x) / 10.0,
        "count": lambda x: tf.shape(x)[0],
        "size": tf.size,
        "ones": lambda x: tf.reduce_sum(tf.ones_like(x)),
        "flat": lambda x: tf.reduce_sum(tf.reshape(x, [-1]) ** 2),
        "pairs": lambda x: tf.reduce_sum(tf.reshape(x, [-1, 1]), axis=0),
        "gather": lambda x: tf.reduce_sum(tf.gather(x, tf.range(tf.shape(x)[0]))),
        "range": lambda x: tf.reduce_sum(tf.range(tf.shape(x)[0])),
        "zeros": lambda x: tf.reduce_sum(x + tf.zeros([tf.shape(x)[0], 1])),
        "product": lambda x: tf.matmul(x, x, transpose_a=True),
        "max": lambda x: tf.reduce_sum(tf.cumsum(x, axis=0)),
        "sort": lambda x: tf.reduce_sum(tf.sort(x, axis=0) * 2.0),
        "concat": lambda x: tf.reduce_sum(tf.concat([x, x], 0)),
        "where": lambda x: tf.reduce_sum(tf.where(x > 2.0, x, -1.0)),
        "true": lambda x: tf.reduce_sum(tf.cast(x < 100.0, tf.int32)),
        "variance": variance,
        "static_rows": lambda x: tf.reduce_sum(x) + 0.0 * tf.cast(tf.size(x), tf.float32),
        "average_loss": lambda x: tf.nn.compute_average_loss(x[:, 0] ** 2, global_batch_size=_SIZE),
    }


@scenario("uneven.steps", GROUP, ("n1", "n2", "n4"))
def steps(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def data(rows: int) -> Any:
        made = tf.data.Dataset.from_tensor_slices(f32(np.arange(2.0 * rows).reshape(rows, 2)) + 1.0)
        return s.strategy.experimental_distribute_dataset(made.batch(_SIZE))

    def reduced(function: Any, rows: int) -> Any:
        step = tf.function(
            lambda x: s.strategy.reduce("SUM", s.strategy.run(function, (x,)), axis=None)
        )
        return [step(x) for x in data(rows)]

    functions = _steps(tf, s)
    for name, function in functions.items():
        for left in (1, 2, 3):
            yield f"{name}/{left}", lambda f=function, n=_SIZE + left: reduced(f, n)

    def each(function: Any, rows: int) -> Any:
        step = tf.function(lambda x: s.strategy.run(function, (x,)))
        return [s.rows(step(x)) for x in data(rows)]

    def gradient(rows: int) -> Any:
        v = s.in_scope(lambda: tf.Variable([1.0, 2.0]))

        def one(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((x * v) ** 2) / _SIZE
            return tape.gradient(loss, v)

        return reduced(one, rows)

    def trained(rows: int) -> Any:
        v = s.in_scope(lambda: tf.Variable([1.0, 2.0]))
        sgd = s.in_scope(lambda: tf.keras.optimizers.SGD(0.001))

        def one(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((x * v) ** 2) / _SIZE
            sgd.apply_gradients([(tape.gradient(loss, v), v)])
            return loss

        return [*reduced(one, rows), v.read_value()]

    def counted(rows: int) -> Any:
        seen = s.in_scope(
            lambda: tf.Variable(
                0,
                aggregation=tf.VariableAggregation.SUM,
                synchronization=tf.VariableSynchronization.ON_READ,
                trainable=False,
            )
        )

        def one(x):
            seen.assign_add(tf.shape(x)[0])
            return tf.reduce_sum(x)

        return [*reduced(one, rows), seen.read_value()]

    def custom_metric(rows: int) -> Any:
        class Total(tf.keras.metrics.Metric):
            def __init__(self):
                super().__init__(name="total")
                self.total = self.add_weight(name="t", initializer="zeros")
                self.count = self.add_weight(name="c", initializer="zeros")

            def update_state(self, x, sample_weight=None):
                self.total.assign_add(tf.reduce_sum(x))
                self.count.assign_add(tf.cast(tf.shape(x)[0], tf.float32))

            def result(self):
                return self.total / self.count

        metric = s.in_scope(Total)

        def one(x):
            metric.update_state(x)
            return tf.reduce_sum(x)

        return [*reduced(one, rows), metric.result()]

    def mean_metric(rows: int) -> Any:
        metric = s.in_scope(lambda: tf.keras.metrics.Mean())

        def one(x):
            metric.update_state(x)
            return tf.reduce_sum(x)

        return [*reduced(one, rows), metric.result()]

    def control_flow(rows: int) -> Any:
        def one(x):
            total = tf.zeros([2])
            for row in x:
                total = total + row
            return total

        return reduced(one, rows)

    def loop_over_rows(rows: int) -> Any:
        def one(x):
            total = 0.0
            for i in tf.range(tf.shape(x)[0]):
                total += x[i, 0] * tf.cast(i + 1, tf.float32)
            return total

        return reduced(one, rows)

    def gathered(rows: int) -> Any:
        step = tf.function(
            lambda x: s.strategy.gather(s.strategy.run(lambda x: x * 2.0, (x,)), axis=0)
        )
        return [step(x) for x in data(rows)]

    def along_rows(rows: int) -> Any:
        return [
            s.strategy.reduce("MEAN", s.strategy.run(lambda x: x * 2.0, (x,)), axis=0)
            for x in data(rows)
        ]

    def mapped(rows: int) -> Any:
        return reduced(lambda x: tf.reduce_sum(tf.map_fn(lambda row: row * row, x)), rows)

    for left in (1, 2, 3):
        for case in (
            *(gradient, trained, counted, custom_metric, mean_metric, control_flow),
            *(loop_over_rows, gathered, along_rows, mapped),
        ):
            yield f"{case.__name__}/{left}", lambda f=case, n=_SIZE + left: f(n)
        for name in ("sum", "count", "product"):
            yield (
                f"each/{name}/{left}",
                lambda f=functions[name], n=_SIZE + left: each(f, n),
            )
