"""Tables in maps and in steps; tests/golden compares with TensorFlow."""

import jax
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


@pytest.mark.parametrize(
    ("keys", "expected"),
    [([2**32 + 5, 7], [0, 2, 0]), ([2**32 + 5, 2**33], [0, 0, 0]), ([], [0, 0, 0])],
)
def test_keys_that_do_not_fit_a_program_are_no_others(keys, expected):
    values = np.arange(1, len(keys) + 1)
    entries = tf.lookup.KeyValueTensorInitializer(np.array(keys, np.int64), values, tf.int64)
    table = tf.lookup.StaticHashTable(entries, 0)
    found = jax.jit(table.lookup)(np.array([5, 7, 8], np.int32))
    np.testing.assert_array_equal(found, expected)


def test_values_that_do_not_fit_a_program_raise():
    entries = tf.lookup.KeyValueTensorInitializer(np.array([5]), np.array([2**40]))
    table = tf.lookup.StaticHashTable(entries, 0)
    with pytest.raises(ValueError, match=r'(?s)1099511627776.*"jax_enable_x64", True'):
        jax.jit(table.lookup)(np.array([5], np.int32))


@pytest.mark.parametrize(
    ("keys", "values", "lookup_dtype", "error", "message"),
    [
        (["a", "a"], [0, 1], None, RuntimeError, "different value for same key"),
        (["a"], [0], tf.int64, TypeError, "expected integer but got string"),
        (np.array([1]), [0], tf.string, TypeError, "expected non-integer but got int64"),
        (np.array([1.0]), [0], None, TypeError, "expected integers or string but got float64"),
    ],
)
def test_vocabularies_check_their_words(keys, values, lookup_dtype, error, message):
    words = tf.lookup.KeyValueTensorInitializer(keys, values, value_dtype=tf.int64)
    with pytest.raises(error, match=message):
        tf.lookup.StaticVocabularyTable(words, 1, lookup_dtype)


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
