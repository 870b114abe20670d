"""Keras's layers in `Dataset.map`: same numbers as outside, and no tracer is left in them."""

import jax
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.keras.strategies import mirrored

keras = tf.keras
layers = keras.layers
ROWS = np.arange(12, dtype=np.float32).reshape(6, 2)
IMAGES = np.arange(96, dtype=np.float32).reshape(2, 4, 4, 3)


def dataset(values=ROWS):
    return tf.data.Dataset.from_tensor_slices(values)


def normalization():
    layer = layers.Normalization()
    layer.adapt(dataset().batch(4))
    return layer


@pytest.mark.parametrize(
    ("make", "values"),
    [
        (normalization, ROWS),
        (lambda: layers.Rescaling(0.5, offset=-1), ROWS),
        (lambda: layers.Resizing(2, 2), IMAGES),
        (lambda: layers.CenterCrop(2, 2), IMAGES),
        (lambda: layers.CategoryEncoding(12, output_mode="multi_hot"), ROWS.astype(np.int32)),
        (lambda: layers.Discretization(bin_boundaries=[2.0, 5.0]), ROWS),
        (lambda: keras.Sequential([layers.Rescaling(2.0), layers.Resizing(2, 2)]), IMAGES),
        (lambda: layers.Dense(3), ROWS),
    ],
)
def test_a_layer_maps_batches_as_it_is_called(make, values):
    layer = make()
    found = list(dataset(values).batch(2).map(layer))
    # Built in the map, and not by a tracer.
    np.testing.assert_allclose(np.concatenate(found), layer(values), rtol=1e-5)
    assert not any(isinstance(v.value, jax.core.Tracer) for v in layer.variables)


def test_statistics_are_those_of_tensorflow():
    layer = layers.Normalization(axis=None)
    layer.adapt(dataset().map(lambda row: row[0]).batch(2))
    assert (np.asarray(layer.mean).item(), np.asarray(layer.variance).item()) == pytest.approx(
        (5.0, 35 / 3)
    )
    layer = layers.Discretization(num_bins=3)
    layer.adapt(dataset().batch(2))
    assert layer(ROWS).tolist() == [[0, 0], [0, 1], [1, 1], [1, 2], [2, 2], [2, 2]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: layers.RandomFlip("horizontal", seed=1),
        lambda: layers.RandomBrightness(0.5, seed=1),
        lambda: layers.Dropout(0.5, seed=1),
        lambda: keras.Sequential([layers.Rescaling(2.0), layers.Dropout(0.5, seed=1)]),
    ],
)
def test_random_layers_draw_anew_for_each_element(make):
    layer = make()
    same = dataset(np.repeat(IMAGES[:1], 8, 0)).map(lambda image: layer(image, training=True))
    found = {np.asarray(image).tobytes() for image in same}
    assert len(found) > 1
    assert layer(IMAGES[0], training=True).shape == (4, 4, 3), "the layer is whole afterwards"


def test_a_seed_makes_the_same_numbers():
    def run():
        layer = layers.RandomFlip("horizontal", seed=1)
        images = dataset(np.repeat(IMAGES[:1], 8, 0)).map(lambda image: layer(image, training=True))
        return [np.asarray(image).tolist() for image in images]

    assert run() == run()


def test_a_map_that_writes_a_variable_runs_for_each_element():
    count = tf.Variable(0)
    total = keras.Variable(0.0)

    def step(row):
        count.assign_add(1)
        total.assign(total + row[0])
        return row

    assert len(list(dataset().map(step))) == 6
    assert count.numpy() == 6
    assert float(total) == 30


def test_a_pipeline_of_layers_feeds_a_model_of_two_replicas():
    prepare = keras.Sequential([layers.Rescaling(0.1), layers.RandomContrast(0.2, seed=1)])
    images = (
        dataset(IMAGES).repeat(2).batch(4).map(lambda x: (prepare(x, training=True), x[:, 0, 0]))
    )
    with mirrored(2).scope():
        model = keras.Sequential([layers.Flatten(), layers.Dense(3)])
        model.compile("sgd", "mse")
    history = model.fit(images, epochs=2, verbose=0).history
    assert np.all(np.isfinite(history["loss"]))
