"""Entries of arrays that do not exist, against NumPy: this file runs on every supported version."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
MASK = np.array([True, False])


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("key", "index", "dimension"),
    [
        (2, 2, 0),
        (-3, -3, 0),
        ((1, 3), 3, 1),
        ((..., 4), 4, 2),
        ((0, ..., -5), -5, 2),
        ((None, 5), 5, 0),
        ((slice(0, 9), None, 3), 3, 1),
        (np.int32(2), 2, 0),
        ((0, np.array(7)), 7, 1),
        ((MASK, 3), 3, 1),
        ((np.array([0, 1]), 0, 4), 4, 2),
    ],
)
def test_an_entry_that_is_not_there(key, index, dimension, compiled):
    def take(x):
        return x[key]

    with pytest.raises(IndexError):
        X[key]
    text = rf"slice index {index} of dimension {dimension} out of bounds: .*\(2, 3, 4\)"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        (tf.function(take) if compiled else take)(tf.constant(X))


def test_too_many_indices():
    for key in ((0, 0, 0, 0), (0, 0, 0, ..., 0), (MASK, 0, 0, 0), (slice(1),) * 4):
        with pytest.raises(ValueError, match=r"[Tt]oo many indices"):
            jnp.asarray(X)[key]
    with pytest.raises(ValueError, match="has 0 dimensions"):
        jnp.float32(1.0)[0]


def test_an_array_as_index():
    with pytest.raises(ValueError, match="slice index 2 of dimension 0"):
        jnp.asarray(X)[tf.constant(2)]
    assert tf.constant(X)[tf.constant(1), 0, tf.constant(-1)] == X[1, 0, -1]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    "key",
    [
        *(1, -2, (1, 2, 3), (-1, ..., -4), (..., 0), (0, None, 2), (slice(5), 1), None, ...),
        *(slice(None, None, -1), (MASK, 2), (True, 1), np.array([0, 1]), (0, np.array([2, 0]), 1)),
        *(np.uint8(1), MASK, (slice(None), slice(9, 12))),
    ],
    ids=str,
)
def test_what_is_there(key, compiled):
    def take(x):
        return x[key]

    found = (tf.function(take) if compiled else take)(tf.constant(X))
    np.testing.assert_array_equal(found, X[key])


def test_an_index_that_only_the_program_knows_is_clipped():
    assert jax.jit(lambda x, i: x[i, 0, 0])(X, 5) == X[1, 0, 0]


def test_an_index_that_is_a_constant_of_the_program_is_known():
    @tf.function
    def run(x, row):
        return x[tf.constant(row)], x[tf.constant([True, False])], x[0, tf.constant(1)]

    row, masked, column = run(tf.constant(X), 1)
    np.testing.assert_array_equal(row, X[1])
    np.testing.assert_array_equal(masked, X[:1])
    np.testing.assert_array_equal(column, X[0, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 5 of dimension 0"):
        tf.function(lambda x: x[tf.constant(2) + tf.constant(3)])(tf.constant(X))


def test_a_variable_and_a_slice_of_it():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 2 of dimension 0"):
        v[2]
    v[1].assign(5.0)
    assert v.numpy().tolist() == [1, 5]


def test_a_mask_that_only_the_program_knows():
    def take(x):
        return x[x > 3.0]

    expected = r"x\[mask\] .*shape \(2, 3, 4\).*tf.where\(mask, x, 0\)"
    with pytest.warns(UserWarning, match=f"take runs as Python.*{expected}"):
        np.testing.assert_array_equal(tf.function(take)(X), np.asarray(X)[np.asarray(X) > 3.0])
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    for kind in (tf.errors.InvalidArgumentError, TypeError):
        with pytest.raises(kind, match=r"took in a program .*tf.where\(mask, x, 0\)"):
            strategy.run(take, args=(X,))
        with pytest.raises(kind, match=expected):
            strategy.run(lambda x: x[x > 3.0, None], args=(X,))


def test_a_loop_over_rows_of_which_there_are_none():
    @tf.function
    def total(x):
        found = tf.constant(0.0)
        for i in tf.range(tf.shape(x)[0]):
            found += x[i, 0] + tf.reduce_sum(x[i])
        return found

    assert total(tf.zeros([0, 3])) == 0
    assert total(tf.ones([2, 3])) == 8
    # Nobody asks for such an entry by mistake without noticing.
    assert np.isnan(jax.jit(lambda x, i: x[i])(np.zeros([0], np.float32), 0))
    assert jax.jit(lambda x, i: x[i])(np.zeros([0], np.int32), 0) == np.iinfo(np.int32).min
