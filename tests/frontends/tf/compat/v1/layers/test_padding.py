"""Rows that fill up a replica's batch."""

import jax.numpy as jnp
import numpy as np

from frontends import tf
from frontends.tf.compat.v1.layers import padding


def test_rows_of_a_partial_batch():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    rows = tf.data.Dataset.from_tensor_slices(np.ones((5, 2), np.float32)).batch(8)
    (batch,) = strategy.experimental_distribute_dataset(rows)

    def replica(x):
        assert padding.rows_of(jnp.ones((7, 2))) is None
        assert padding.rows_of(jnp.ones(())) is None
        assert padding.beside(padding.rows_of(x), x).shape == (x.shape[0], 1)
        values, count = padding.without_padding(x * 2.0)
        return tf.reduce_sum(values), count

    total, count = strategy.run(replica, args=(batch,))
    assert [float(one) for one in total.values] == [12, 8]
    assert [int(one) for one in count.values] == [3, 2]


def test_outside_of_steps_all_rows_are_data():
    x = jnp.ones((3, 2))
    assert padding.rows_of(x) is None
    assert padding.without_padding(x)[1] == 3
    assert padding.without_padding(x[0, 0])[1] == 1
