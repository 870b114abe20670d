"""Values of replicas outside of a step: what scripts compute with them on the host."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import Case, Setting, f32, scenario

GROUP = "replica_values"


@scenario("replica_values.host", GROUP, ("n1", "n2", "n4"))
def host(s: Setting) -> Iterator[Case]:
    tf = s.tf

    @tf.function
    def step(x):
        def one(x):
            y = x * (s.number() + 1.0)
            return y, tf.reduce_sum(y), {"id": s.replica_id()}

        return s.strategy.run(one, (x,))

    def results() -> Any:
        return step(tf.constant([1.0, 2.0]))

    def local(value: Any) -> Any:
        return s.strategy.experimental_local_results(value)

    def vectors() -> Any:
        return local(results()[0])

    def scalars() -> Any:
        return local(results()[1])

    yield "concat", lambda: tf.concat(vectors(), axis=0)
    yield "concat_columns", lambda: tf.concat([v[:, None] for v in vectors()], axis=1)
    yield "stack", lambda: tf.stack(vectors())
    yield "stack_scalars", lambda: tf.stack(scalars())
    yield "add_n", lambda: tf.add_n(vectors())
    yield "sum", lambda: sum(scalars())
    yield "sum_vectors", lambda: sum(vectors())
    yield "max", lambda: max(scalars())
    yield "sorted", lambda: [float(v) for v in sorted(scalars(), reverse=True)]
    yield "mean", lambda: np.mean(scalars())
    yield "mean_numpy", lambda: np.mean([v.numpy() for v in scalars()])
    yield "np_stack", lambda: np.stack(vectors())
    yield "np_concatenate", lambda: np.concatenate([np.asarray(v) for v in vectors()])
    yield "first_plus_last", lambda: vectors()[0] + vectors()[-1]
    yield "first_minus_host", lambda: vectors()[-1] - tf.constant([1.0, 1.0])
    yield "product", lambda: vectors()[0] * scalars()[-1]
    yield "matmul", lambda: tf.tensordot(vectors()[0], vectors()[-1], 1)
    yield "compare", lambda: [bool(scalars()[0] <= scalars()[-1]), bool(scalars()[0] == 3.0)]
    yield "convert", lambda: tf.convert_to_tensor(scalars())
    yield "constant", lambda: tf.constant([float(v) for v in scalars()])
    yield "reduce_mean", lambda: tf.reduce_mean(tf.stack(vectors()), axis=0)
    yield "where", lambda: tf.where(vectors()[0] > 1.0, vectors()[0], vectors()[-1])
    yield "float", lambda: [float(v) for v in scalars()]
    yield "format", lambda: " ".join(f"{v:.2f}" for v in scalars())
    yield "index", lambda: [[10, 20, 30, 40][int(i)] for i in local(results()[2]["id"])]
    yield "mixed", lambda: tf.add_n([scalars()[-1], tf.constant(1.0), scalars()[0]])
    yield "map_structure", lambda: tf.nest.map_structure(lambda *vs: tf.add_n(vs), *vectors())
    yield "in_function", lambda: tf.function(lambda vs: tf.add_n(vs))(list(vectors()))
    yield (
        "dataset",
        lambda: [
            v.tolist()
            for v in tf.data.Dataset.from_tensor_slices(tf.stack(vectors())).as_numpy_iterator()
        ],
    )

    def assigned():
        v = s.in_scope(lambda: tf.Variable(0.0))
        v.assign(sum(scalars()))
        v.assign_add(scalars()[-1])
        return v.read_value()

    def slope():
        x = vectors()[-1]
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * x) * scalars()[0]
        return tape.gradient(y, x)

    def inside_function():
        @tf.function
        def both(x):
            found = s.strategy.run(lambda x: x * (s.number() + 1.0), (x,))
            parts = s.strategy.experimental_local_results(found)
            return tf.concat(parts, 0), tf.add_n(parts), tf.stack(parts), parts[0] + parts[-1]

        return both(tf.constant([1.0, 2.0]))

    def of_batches():
        data = tf.data.Dataset.from_tensor_slices(f32(np.arange(8.0))).batch(4)
        found = []
        for batch in s.strategy.experimental_distribute_dataset(data):
            found.append(tf.concat(local(batch), 0))
        return found

    def from_function():
        @tf.function
        def made():
            return s.strategy.reduce("SUM", s.values([f32(i + 1) for i in range(s.n)]), axis=None)

        return made()

    yield "assigned", assigned
    yield "slope", slope
    yield "inside_function", inside_function
    yield "of_batches", of_batches
    yield "from_function", from_function
    if s.n > 1:
        yield "values", lambda: tf.stack(results()[0].values)
        yield "values_mean", lambda: np.mean(results()[1].values)
        yield "values_sum", lambda: sum(results()[1].values)
