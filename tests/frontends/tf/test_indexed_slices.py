"""`tf.IndexedSlices`: rows of an array, in steps and out of them."""

import jax.numpy as jnp
import keras
import numpy as np
import pytest
from flax import nnx

from frontends import tf


def test_rows_become_an_array_of_the_whole():
    rows = tf.IndexedSlices(tf.constant([[1.0], [2.0], [4.0]]), tf.constant([2, 0, 2]), (3, 1))
    assert tf.convert_to_tensor(rows).tolist() == [[2], [0], [5]]
    assert tf.convert_to_tensor(-rows).tolist() == [[-2], [0], [-5]]
    assert rows.dtype == jnp.float32
    with pytest.raises(ValueError, match="dense_shape="):
        tf.convert_to_tensor(tf.IndexedSlices(rows.values, rows.indices))


def test_a_tape_returns_the_rows_that_were_looked_up():
    table = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(tf.gather(table, [2, 0, 2]) ** 2)
        whole = y + tf.nn.l2_loss(table)
    found = tape.gradient(y, table)
    assert isinstance(found, tf.IndexedSlices)
    assert (found.indices.tolist(), found.values.tolist()) == ([2, 0, 2], [[6], [2], [6]])
    assert found.shape.as_list() == list(found.dense_shape) == [3, 1]
    assert np.asarray(found).tolist() == [[2], [0], [12]]
    assert (found / 2 + 1.0).tolist() == (1.0 + 0.5 * found).tolist() == [[2], [1], [7]]
    assert tape.gradient(whole, table).tolist() == [[3], [2], [15]]


def test_other_libraries_get_whole_gradients():
    weight = nnx.Param(jnp.ones((3, 1)))
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(weight[jnp.array([1, 1])])
    assert tape.gradient(y, weight).tolist() == [[0], [2], [0]]
    assert tape.gradient(y, nnx.State({"w": weight}))["w"].tolist() == [[0], [2], [0]]


@pytest.mark.parametrize("make", [keras.optimizers.Adagrad, keras.optimizers.SGD])
def test_optimizers_of_keras_take_the_rows_of_an_embedding(make):
    layer = keras.layers.Embedding(4, 2)
    layer.build()
    before = np.asarray(layer.embeddings)
    optimizer = make(0.5)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(jnp.array([[1, 1, 3]])))
    gradients = tape.gradient(loss, layer.trainable_variables)
    assert isinstance(gradients[0], tf.IndexedSlices)
    optimizer.apply_gradients(zip(gradients, layer.trainable_variables, strict=True))
    moved = np.any(np.asarray(layer.embeddings) != before, axis=1)
    assert moved.tolist() == [False, True, False, True]


def test_replicas_combine_rows_as_tensorflow_does():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])

    def replica(op):
        context = tf.distribute.get_replica_context()
        index = context.replica_id_in_sync_group
        rows = tf.IndexedSlices(tf.cast(index + 1, tf.float32)[None], index[None])
        return context.all_reduce(op, rows)

    for op, expected in {"SUM": [1, 2], "MEAN": [0.5, 1]}.items():
        for found in strategy.experimental_local_results(strategy.run(replica, args=(op,))):
            assert found.values.tolist() == expected
            assert found.indices.tolist() == [0, 1]
    with pytest.raises(TypeError, match=r"all_reduce\('SUM', slices\)"):
        strategy.reduce("SUM", strategy.run(replica, args=("SUM",)), axis=None)


def test_the_shape_of_the_whole_stays_a_shape_in_replicas():
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    slices = tf.IndexedSlices(jnp.ones((1, 2)), jnp.array([1]), dense_shape=tf.constant([3, 2]))
    result = strategy.run(tf.convert_to_tensor, args=(slices,))
    assert result.values[0].tolist() == [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
