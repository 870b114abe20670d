"""Tables in maps and in steps; tests/golden compares with TensorFlow."""

import jax
import jax.numpy as jnp
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


def words(names, values=None, dtype="int64"):
    values = range(len(names)) if values is None else values
    return tf.lookup.KeyValueTensorInitializer(names, values, "string", dtype)


FRUITS = np.array([["plum", "fig"], ["pear", ""]])


@pytest.mark.parametrize(
    "table",
    [
        lambda: tf.lookup.StaticHashTable(words(["fig", "plum"], [7, 3]), -1),
        lambda: tf.lookup.StaticHashTable(words([], []), 5),
        lambda: tf.lookup.StaticHashTable(words(["fig"], [0.5], "float32"), 2.0),
        lambda: tf.lookup.StaticVocabularyTable(words(["fig", "plum"]), 3),
        lambda: tf.lookup.StaticVocabularyTable(None, 3),
    ],
)
def test_a_step_finds_texts_by_their_fingerprints(table):
    made = table()
    found = jax.jit(made.lookup)(tf.feature_column.prepare(FRUITS))
    assert found.tolist() == np.asarray(made.lookup(FRUITS)).tolist()


def test_a_step_chooses_texts():
    numbers = tf.lookup.KeyValueTensorInitializer([4, 2], ["four", "two"], "int64", "string")
    table = tf.lookup.StaticHashTable(numbers, "?")
    found = jax.jit(table.lookup)(jnp.array([[2, 3], [4, 2]]))
    assert np.asarray(found).tolist() == [[b"two", b"?"], [b"four", b"two"]]
    capitals = tf.lookup.StaticHashTable(words(["fig"], ["FIG"], "string"), "OTHER")
    chosen = jax.jit(capitals.lookup)(tf.feature_column.prepare(FRUITS))
    assert np.asarray(chosen).tolist() == [[b"OTHER", b"FIG"], [b"OTHER", b"OTHER"]]


def test_a_step_gives_integers_to_buckets_by_their_digits():
    known = tf.lookup.KeyValueTensorInitializer
    table = tf.lookup.StaticVocabularyTable(known([10, -3], [0, 1], "int64", "int64"), 4)
    keys = np.array([-3, 10, 11, -7, 0], np.int32)
    assert jax.jit(table.lookup)(keys).tolist() == np.asarray(table.lookup(keys)).tolist()


def test_a_step_has_keys_of_the_tables_dtype():
    table = tf.lookup.StaticHashTable(words(["fig"]), -1)
    with pytest.raises(TypeError, match="must be string, received: int32"):
        jax.jit(table.lookup)(jnp.array([1]))
