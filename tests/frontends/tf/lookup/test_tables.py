"""Tables in maps and in steps; tests/golden compares with TensorFlow."""

import numpy as np
import pytest

from frontends import tf


def numbers():
    keys = tf.lookup.KeyValueTensorInitializer(np.array([5, 1, 9]), [0.5, 0.1, 0.9])
    return tf.lookup.StaticHashTable(keys, -1.0)


def test_a_step_looks_integers_up():
    table = numbers()
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    found = strategy.run(lambda x: table.lookup(x), (tf.constant([9, 7, 1]),))
    for one in strategy.experimental_local_results(found):
        np.testing.assert_allclose(one, [0.9, -1.0, 0.1])


def test_a_step_looks_no_changing_table_up():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    with pytest.raises(ValueError, match=r"MutableHashTable\.lookup works on the host"):
        strategy.run(lambda x: table.lookup(x), (tf.constant([9]),))


def test_a_traced_map_sees_what_is_inserted_later():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    dataset = tf.data.Dataset.range(3).map(table.lookup)
    assert [int(x) for x in dataset] == [-1, -1, -1]
    table.insert(np.array([1]), np.array([10]))
    assert [int(x) for x in dataset] == [-1, 10, -1]
