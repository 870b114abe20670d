"""`tf.IndexedSlices`: rows of an array, in steps and out of them."""

import jax.numpy as jnp
import pytest

from frontends import tf


def test_rows_become_an_array_of_the_whole():
    rows = tf.IndexedSlices(tf.constant([[1.0], [2.0], [4.0]]), tf.constant([2, 0, 2]), (3, 1))
    assert tf.convert_to_tensor(rows).tolist() == [[2], [0], [5]]
    assert tf.convert_to_tensor(-rows).tolist() == [[-2], [0], [-5]]
    assert rows.dtype == jnp.float32
    with pytest.raises(ValueError, match="dense_shape="):
        tf.convert_to_tensor(tf.IndexedSlices(rows.values, rows.indices))


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
