"""The weights of layers whose variables are divided among parameter servers."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.distribute.coordinator import clusters


@pytest.fixture(scope="module")
def model():
    partitioner = tf.distribute.experimental.partitioners.MinSizePartitioner(1 << 10, max_shards=2)
    with clusters.strategy(1, 2, variable_partitioner=partitioner).scope():
        return tf.keras.Sequential(
            [
                tf.keras.Input((3,), dtype=tf.int64),
                tf.keras.layers.Embedding(64, 16),
                tf.keras.layers.Flatten(),
                tf.keras.layers.Dense(1),
            ]
        )


def test_weights_are_parts_and_what_trains_is_whole(model):
    embedding = model.layers[0]
    assert [one.shape for one in embedding.weights] == [(32, 16), (32, 16)]
    assert len({one.device for one in embedding.weights}) == 2
    assert [one.shape for one in model.weights] == [(32, 16), (32, 16), (48, 1), (1,)]
    assert embedding.trainable_weights == [embedding.embeddings]
    assert len(model.trainable_variables) == len(model.variables) == 3
    assert model.non_trainable_weights == []
    assert model.count_params() == 64 * 16 + 48 + 1


def test_arrays_are_those_of_whole_variables(model):
    arrays = model.get_weights()
    assert [one.shape for one in arrays] == [(64, 16), (48, 1), (1,)]
    arrays[0][:] = np.arange(64)[:, None]
    model.set_weights(arrays)
    assert [one.numpy()[:, 0].tolist() for one in model.layers[0].weights] == [
        list(range(32)),
        list(range(32, 64)),
    ]


def test_a_variable_says_on_which_device_it_is(model):
    assert model.layers[-1].bias.device.startswith("/job:ps/replica:0/task:")
    layer = tf.keras.layers.Dense(1)
    layer.build((None, 1))
    assert layer.kernel.device == tf.Variable(1.0).device
