"""Slices whose bounds are tensors."""

import numpy as np
import pytest

from frontends import tf

X = np.arange(12, dtype=np.float32).reshape(6, 2)


def test_blocks_of_known_size_at_a_place_that_is_computed() -> None:
    @tf.function
    def run(x):
        pairs, halves = tf.zeros([2, 2]), tf.zeros([3])
        for i in tf.range(5):
            pairs += x[i : i + 2]
        for i in tf.range(2):
            halves += x[3 * i : (i + 1) * 3, 1]
        return pairs, halves

    pairs, halves = run(tf.constant(X))
    np.testing.assert_array_equal(pairs, X[:5].sum(0) + np.array([[0, 0], [10, 10]]))
    np.testing.assert_array_equal(halves, X[:3, 1] + X[3:, 1])


@pytest.mark.parametrize("i", [0, 2, 5, -1])
def test_they_take_what_numpy_takes(i) -> None:
    @tf.function
    def run(x, i):
        return x[..., i : i + 1], x[tf.newaxis, i : i + 1], x[i - 1 : i - 1, 0], x[i : i + 1, -1:]

    wide = np.arange(36, dtype=np.float32).reshape(6, 6)
    start = i % 6
    expected = wide[..., start : start + 1], wide[np.newaxis, start : start + 1]
    found = run(tf.constant(wide), tf.constant(i))
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
    assert found[2].shape == (0,)
    np.testing.assert_array_equal(found[3], wide[start : start + 1, -1:])


def test_gradients_come_back_to_the_block() -> None:
    @tf.function
    def slope(x, i):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x[i : i + 2] ** 2)
        return tape.gradient(y, x)

    expected = np.zeros_like(X)
    expected[3:5] = 2 * X[3:5]
    np.testing.assert_array_equal(slope(tf.constant(X), tf.constant(3)), expected)


def test_constants_are_bounds_like_any_number() -> None:
    @tf.function
    def run(x):
        n = tf.constant(2)
        return x[:n], x[n:], x[::n], x[:-n], x[n : n + 1, : n - 1]

    for found, expected in zip(
        run(tf.constant(X)), (X[:2], X[2:], X[::2], X[:-2], X[2:3, :1]), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_a_size_that_only_the_run_knows() -> None:
    @tf.function
    def first(x, n):
        return tf.reduce_sum(x[:n])

    with pytest.warns(UserWarning, match=r"first runs as Python.*x\[:\?\] of an array of shape"):
        assert float(first(tf.constant(X), tf.constant(2))) == X[:2].sum()

    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with pytest.raises(ValueError, match="how many entries it takes is known only when"):
        strategy.run(lambda x, n: x[:n], args=(tf.constant(X), tf.constant(2)))
