"""`tf.keras.layers.DenseFeatures`, in models of all kinds, with texts."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf import feature_column as columns
from frontends.tf.graph import Graph
from tests.frontends.tf.distribute.coordinator.clusters import strategy as server_strategy

FEATURES = {
    "fruit": np.array([["fig", "pear"], ["plum", ""], ["", ""], ["sloe", "fig"], ["fig", ""]]),
    "age": np.arange(5, dtype=np.float32)[:, None] * 10,
}
LABELS = np.arange(5, dtype=np.float32)
AGE = columns.bucketized_column(columns.numeric_column("age"), [15, 25])
FRUIT = columns.embedding_column(columns.categorical_column_with_hash_bucket("fruit", 7), 3)
COLUMNS = [AGE, FRUIT, columns.indicator_column(columns.crossed_column(["fruit", AGE], 5))]


class Subclassed(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.features = tf.keras.layers.DenseFeatures(COLUMNS)
        self.dense = tf.keras.layers.Dense(1)

    def call(self, features):
        return self.dense(self.features(features))


def sequential():
    return tf.keras.Sequential([tf.keras.layers.DenseFeatures(COLUMNS), tf.keras.layers.Dense(1)])


def functional():
    inputs = {
        "age": tf.keras.Input((1,), name="age"),
        "fruit": tf.keras.Input((2,), name="fruit", dtype=tf.string),
    }
    rows = tf.keras.layers.DenseFeatures(COLUMNS)(inputs)
    assert rows.shape == (None, 11)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(rows))


def test_it_gives_what_input_layer_gives():
    layer = tf.keras.layers.DenseFeatures(COLUMNS)
    outputs = {}
    rows = layer(FEATURES, cols_to_output_tensors=outputs)
    assert [one.path for one in layer.trainable_variables] == [
        f"{layer.name}/fruit_embedding/embedding_weights"
    ]
    with Graph().as_default() as graph:
        tf.compat.v1.feature_column.input_layer(FEATURES, COLUMNS)
    (table,) = graph.store.variables.values()
    table.assign(layer.trainable_variables[0].numpy())
    with Graph(graph.store).as_default():
        expected = tf.compat.v1.feature_column.input_layer(FEATURES, COLUMNS)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(rows, np.concatenate(list(outputs.values()), 1))
    assert list(outputs) == sorted(COLUMNS, key=lambda column: column.name)


@pytest.mark.parametrize(
    "make",
    [sequential, *(pytest.param(one, marks=pytest.mark.slow) for one in (Subclassed, functional))],
)
def test_models_train_with_texts_of_arrays_and_datasets(make):
    losses = []
    for source in ("arrays", "dataset", "prepared"):
        tf.keras.utils.set_random_seed(1)
        with tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
            model = make()
            model.compile("sgd", "mse")
        data = tf.data.Dataset.from_tensor_slices((FEATURES, LABELS)).batch(5)
        if source == "arrays":
            history = model.fit(FEATURES, LABELS, batch_size=5, epochs=2, verbose=0)
        elif source == "dataset":
            history = model.fit(data, epochs=2, verbose=0)
        else:
            history = model.fit(data.map(columns.prepare), epochs=2, verbose=0)
        losses.append(history.history["loss"])
        predicted = model.predict(FEATURES, verbose=0)
        loss = model.evaluate(FEATURES, LABELS, verbose=0)
        np.testing.assert_allclose(loss, ((predicted[:, 0] - LABELS) ** 2).mean(), rtol=1e-5)
    assert losses[1] == losses[2]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)  # its rows are shuffled
    assert losses[0][1] < losses[0][0]


def test_a_functional_model_can_be_called_with_texts():
    model = functional()
    np.testing.assert_allclose(model(FEATURES), model.predict(FEATURES, verbose=0), rtol=1e-6)


def test_workers_of_parameter_servers_train_as_one_device_does():
    def data(context):
        return tf.data.Dataset.from_tensor_slices((FEATURES, LABELS)).repeat().batch(5)

    histories = []
    for strategy in (server_strategy(1, 2), tf.distribute.OneDeviceStrategy("cpu:0")):
        tf.keras.utils.set_random_seed(1)
        with strategy.scope():
            model = sequential()
            model.compile("sgd", "mse")
        creator = tf.keras.utils.experimental.DatasetCreator(data)
        found = model.fit(creator, epochs=2, steps_per_epoch=2, verbose=0)
        histories.append(found.history["loss"])
    np.testing.assert_allclose(*histories, rtol=1e-5)


def test_shared_columns_have_one_variable():
    other = columns.categorical_column_with_hash_bucket("age", 7, tf.int32)
    shared = columns.shared_embeddings([FRUIT.categorical_column, other], 2)
    layer = tf.keras.layers.DenseFeatures(shared, trainable=False, name="first")
    assert [one.path for one in layer.non_trainable_variables] == [
        "first/age_fruit_shared_embedding/embedding_weights"
    ]
    assert layer({**FEATURES, "age": np.arange(5)[:, None]}).shape == (5, 4)


def test_what_is_refused():
    with pytest.raises(ValueError, match="must be a DenseColumn"):
        tf.keras.layers.DenseFeatures([FRUIT.categorical_column])
    with pytest.raises(ValueError, match="We expected a dictionary here"):
        tf.keras.layers.DenseFeatures(COLUMNS)(np.zeros((5, 1)))
