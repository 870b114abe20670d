"""`input_layer`: in a step on two replicas, its variables, and what it notes; tests/golden compares it with TensorFlow's."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf import feature_column as columns
from frontends.tf.graph import Graph, VariableStore
from tests.frontends.tf.distribute.coordinator.clusters import strategy as server_strategy

v1 = tf.compat.v1
FEATURES = {
    "fruit": np.array([["fig", "pear"], ["plum", ""], ["", ""], ["sloe", "fig"], ["fig", ""]]),
    "age": np.arange(5, dtype=np.float32) * 10,
}
AGE = columns.bucketized_column(columns.numeric_column("age"), [15, 25])
FRUIT = columns.embedding_column(columns.categorical_column_with_hash_bucket("fruit", 7), 3)
CROSSED = columns.indicator_column(columns.crossed_column(["fruit", AGE], 5))


@pytest.fixture
def store():
    return VariableStore()


def test_replicas_compute_what_the_host_computes(store):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    every = [AGE, FRUIT, CROSSED]
    with strategy.scope(), Graph(store).as_default():
        expected = v1.feature_column.input_layer(FEATURES, every)
    variables = dict(store.variables)
    traces = []

    def step(features, variables):
        traces.append(features["fruit"])
        with Graph(store).as_default(), tf.GradientTape() as tape:
            rows = v1.feature_column.input_layer(features, every)
            loss = tf.reduce_sum(rows)
        return rows, tape.gradient(loss, list(variables.values()))

    data = tf.data.Dataset.from_tensor_slices(FEATURES).batch(5).map(columns.prepare)
    counts = []
    for _ in range(2):
        (batch,) = strategy.experimental_distribute_dataset(data)
        counts.append(len(traces))
        rows, (gradient,) = strategy.run(step, (batch, variables))
    assert len(traces) == counts[1]  # the second batch is traced no more
    found = np.concatenate([np.asarray(one) for one in strategy.experimental_local_results(rows)])
    np.testing.assert_array_equal(found, expected)
    # The gradient of a sum of means: one for each row with a fruit.
    total = strategy.reduce("sum", gradient, axis=None)
    np.testing.assert_allclose(np.asarray(total).sum(), 3 * 4, rtol=1e-6)


@pytest.mark.parametrize("parts", [1, 2])
def test_tables_on_parameter_servers(parts):
    partitioner = tf.distribute.experimental.partitioners.FixedShardsPartitioner(parts)
    strategy = server_strategy(1, 2, variable_partitioner=partitioner)
    coordinator, store = tf.distribute.coordinator.ClusterCoordinator(strategy), VariableStore()
    with strategy.scope(), Graph(store).as_default():
        expected = v1.feature_column.input_layer(FEATURES, [AGE, FRUIT])
    variables = dict(store.variables)

    def step(features, variables):
        with Graph(store).as_default():
            return v1.feature_column.input_layer(features, [AGE, FRUIT])

    @tf.function
    def on_worker(features):
        return strategy.run(step, (features, variables))

    found = coordinator.schedule(on_worker, args=(columns.prepare(FEATURES),)).fetch()
    np.testing.assert_array_equal(found, expected)


def test_texts_that_nobody_prepared_are_refused_in_a_step(store):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])

    def step(features):
        return v1.feature_column.input_layer(features, [CROSSED])

    data = tf.data.Dataset.from_tensor_slices(FEATURES).batch(5)
    (batch,) = strategy.experimental_distribute_dataset(data)
    with pytest.raises(TypeError, match=r"key: fruit\) is in host memory.*feature_column.prepare"):
        strategy.run(step, (batch,))


def test_what_is_noted(store):
    variables, outputs = {}, {}
    with Graph(store).as_default() as graph:
        v1.feature_column.input_layer(FEATURES, [AGE, FRUIT], ["mine"], False, variables, outputs)
    (table,) = variables[FRUIT]
    assert table.name == "input_layer/fruit_embedding/embedding_weights:0"
    assert variables[AGE] == []
    assert {column: rows.shape for column, rows in outputs.items()} == {AGE: (5, 3), FRUIT: (5, 3)}
    assert not table.trainable
    assert graph.get_collection("trainable_variables") == []
    for key in ("mine", "variables", "model_variables"):
        assert [one is table for one in graph.get_collection(key)] == [True]


def test_columns_that_share_have_one_variable_in_each_trace(store):
    other = columns.categorical_column_with_hash_bucket("age", 7, tf.int32)
    shared = columns.shared_embeddings([FRUIT.categorical_column, other], 2)
    features = {**FEATURES, "age": np.arange(5)}
    for _ in range(2):
        variables = {}
        with Graph(store).as_default():
            v1.feature_column.input_layer(features, shared, cols_to_vars=variables)
        assert len({id(one) for (one,) in variables.values()}) == 1
    assert list(store.variables) == ["input_layer/age_fruit_shared_embedding/embedding_weights"]


def test_features_of_different_batches_are_refused():
    features = {"age": np.zeros(4), "size": np.zeros(5)}
    two = columns.numeric_column("age"), columns.numeric_column("size")
    with pytest.raises(ValueError, match=r"must be same.*'age': 4, 'size': 5"):
        v1.feature_column.input_layer(features, two)


def test_columns_serve_outside_of_model_functions():
    found = v1.feature_column.input_layer(FEATURES, columns.numeric_column("age"))
    assert found.dtype == jnp.float32
    assert found.shape == (5, 1)
