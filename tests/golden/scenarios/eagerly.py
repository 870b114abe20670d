"""Steps under `tf.config.run_functions_eagerly(True)`: op by op, on each replica in turn."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import Case, Setting, f32, scenario

GROUP = "eagerly"
_SIZE = 8
SETTINGS = ("default", "n1", "n2", "n4")


def _eagerly(tf: Any, thunk: Callable[[], Any]) -> Callable[[], Any]:
    def call() -> Any:
        tf.config.run_functions_eagerly(True)
        try:
            return thunk()
        finally:
            tf.config.run_functions_eagerly(False)

    return call


@scenario("eagerly.steps", GROUP, SETTINGS)
def steps(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def batches(rows: int) -> Any:
        made = tf.data.Dataset.from_tensor_slices(f32(np.arange(2.0 * rows).reshape(rows, 2)) + 1.0)
        return s.strategy.experimental_distribute_dataset(made.batch(_SIZE))

    def each(function: Any, rows: int = 8) -> Any:
        step = tf.function(lambda x: s.strategy.run(function, (x,)))
        return [s.rows(step(x)) for x in batches(rows)]

    def python_if(x: Any) -> Any:
        if tf.reduce_sum(x) > 20.0:
            return x[0, 0] * 2.0
        return tf.constant(-1.0)

    def numpy_sum(x: Any) -> Any:
        return tf.constant(float(x.numpy().sum()))

    def python_loop(x: Any) -> Any:
        total = tf.constant(0.0)
        for row in x:
            if row[0] > 100.0:
                break
            total += row[1]
        while total > 50.0:
            total -= 10.0
        return total

    def reduced(op: str) -> Callable[[Any], Any]:
        return lambda x: s.context().all_reduce(op, tf.reduce_sum(x) + s.number())

    def merged(x: Any) -> Any:
        def merge(strategy: Any, value: Any) -> Any:
            return strategy.extended.reduce_to("SUM", value, value)

        return s.context().merge_call(merge, args=(tf.reduce_sum(x),))

    def gradient_of_all(x: Any) -> Any:
        w = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(w)
            whole = s.context().all_reduce("SUM", tf.reduce_sum(x) * w**2)
        return tape.gradient(whole, w)

    functions = {
        "python_if": python_if,
        "numpy": numpy_sum,
        "python_loop": python_loop,
        "all_reduce/SUM": reduced("SUM"),
        "all_reduce/MEAN": reduced("MEAN"),
        "merge_call": merged,
        "gradient_of_all_reduce": gradient_of_all,
        "index": lambda x: tf.constant(int(s.replica_id())),
        "cond": lambda x: tf.cond(
            tf.size(x) > 2, lambda: tf.reduce_sum(x), lambda: tf.constant(-1.0)
        ),
    }
    for name, function in functions.items():
        yield name, _eagerly(tf, lambda f=function: each(f))
    for name in ("python_loop", "all_reduce/SUM", "numpy", "cond"):
        for rows in (9, 11, 13):
            yield (f"{name}/{rows}", _eagerly(tf, lambda f=functions[name], n=rows: each(f, n)))
    order: list[int] = []

    def in_order(x: Any) -> Any:
        order.append(int(s.replica_id()))
        s.context().all_reduce("SUM", tf.constant(1.0))
        order.append(int(s.replica_id()))
        return tf.size(x)

    yield "rows", _eagerly(tf, lambda: each(in_order, 11))
    yield "calls", lambda: sorted(order)
    yield "error", _eagerly(tf, lambda: each(lambda x: {}["missing"]))


@scenario("eagerly.state", GROUP, SETTINGS)
def state(s: Setting) -> Iterator[Case]:
    tf = s.tf
    sums = {"synchronization": tf.VariableSynchronization.ON_READ, "aggregation": "SUM"}

    def batches(rows: int) -> Any:
        made = tf.data.Dataset.from_tensor_slices(f32(np.arange(1.0 * rows)) / rows)
        return s.strategy.experimental_distribute_dataset(made.batch(_SIZE))

    def variables() -> Any:
        aggregation = tf.VariableAggregation
        names = "SUM", "MEAN", "ONLY_FIRST_REPLICA"
        made = [
            s.in_scope(lambda name=name: tf.Variable(1.0, aggregation=getattr(aggregation, name)))
            for name in names
        ]
        own = s.in_scope(
            lambda: tf.Variable(
                0.0, synchronization=sums["synchronization"], aggregation=aggregation.SUM
            )
        )

        def step(x: Any) -> Any:
            for one in made:
                one.assign_add(tf.reduce_sum(x) + s.number())
            own.assign_add(tf.reduce_sum(x))
            return made[0].read_value() + own.read_value()

        found = [s.rows(s.strategy.run(step, (x,))) for x in batches(11)]
        return [found, [one.numpy() for one in made], own.read_value()]

    yield "variables", _eagerly(tf, variables)

    def metric(make: Callable[[], Any]) -> Any:
        one = s.in_scope(make)
        for x in batches(11):
            s.strategy.run(lambda x: one.update_state(x[:, None] > 0.4, x[:, None]), (x,))
        return one.result()

    metrics = tf.keras.metrics
    yield "metric/accuracy", _eagerly(tf, lambda: metric(metrics.BinaryAccuracy))
    yield "metric/mse", _eagerly(tf, lambda: metric(metrics.MeanSquaredError))

    def trained(make: Callable[[], Any], rows: int) -> Any:
        w = s.in_scope(lambda: tf.Variable([1.0, -2.0]))
        optimizer = s.in_scope(make)
        loss = s.in_scope(lambda: tf.keras.metrics.Sum())

        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                each = tf.square(x * w[0] + w[1] - 3.0 * x)
                value = tf.nn.compute_average_loss(each, global_batch_size=_SIZE)
            gradients = tape.gradient(value, [w])
            if tf.reduce_any(tf.math.is_nan(gradients[0])):
                raise ValueError("NaN")
            optimizer.apply_gradients(zip(gradients, [w], strict=True))
            loss.update_state(value)
            return value

        @tf.function
        def train(x: Any) -> Any:
            return s.strategy.reduce("SUM", s.strategy.run(step, (x,)), axis=None)

        found = [train(x) for _ in range(2) for x in batches(rows)]
        return [found, w.numpy(), loss.result(), optimizer.iterations.numpy()]

    optimizers = tf.keras.optimizers
    makes = {
        "sgd": lambda: optimizers.SGD(0.1),
        "momentum": lambda: optimizers.SGD(0.1, momentum=0.9),
        "adam": lambda: optimizers.Adam(0.1),
    }
    for name, make in makes.items():
        for rows in (16, 13):
            yield f"trained/{name}/{rows}", _eagerly(tf, lambda m=make, n=rows: trained(m, n))
