"""Slices whose bounds are tensors."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.ops.operand_errors import OperandError

X = np.arange(12, dtype=np.float32).reshape(6, 2)


def test_blocks_of_known_size_in_a_loop() -> None:
    @tf.function
    def run(x):
        pairs, halves, last = tf.zeros([2, 2]), tf.zeros([3]), tf.zeros([1, 1])
        for i in tf.range(5):
            pairs += x[i : i + 2]
            if i > 2:
                last += x[5 - i : 6 - i, ..., 1:]
        for i in tf.range(2):
            halves += x[3 * i : (i + 1) * 3, 1]
        return pairs, halves, last

    pairs, halves, last = run(tf.constant(X))
    np.testing.assert_array_equal(pairs, X[:5].sum(0) + np.array([[0, 0], [10, 10]]))
    np.testing.assert_array_equal(halves, X[:3, 1] + X[3:, 1])
    np.testing.assert_array_equal(last, X[2:3, 1:] + X[1:2, 1:])


def test_blocks_in_the_loops_of_replicas() -> None:
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])

    def total(x):
        found = tf.constant(0.0)
        for i in tf.range(0, 6, tf.constant(2)):
            for j in tf.range(2):
                found += tf.reduce_sum(x[i : i + 2, j : j + 1])
        return found

    found = strategy.run(total, args=(tf.constant(X),))
    assert [float(one) for one in strategy.experimental_local_results(found)] == [X.sum()] * 2


def test_blocks_of_replicas() -> None:
    """Each takes its share of a batch that all have, as of negatives in contrastive losses."""
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])

    def own(x):
        context = tf.distribute.get_replica_context()
        start = context.replica_id_in_sync_group * 3
        again = context.replica_id_in_sync_group
        return x[start : again * 3 + 3]

    def own_of_known(x):
        start = tf.distribute.get_replica_context().replica_id_in_sync_group * 3
        return tf.gather(x, tf.range(6)[start : start + 3])

    def past_the_end(x):
        start = tf.distribute.get_replica_context().replica_id_in_sync_group * 4
        return x[start : start + 4]

    for function in (own, own_of_known):
        found = strategy.experimental_local_results(strategy.run(function, args=(tf.constant(X),)))
        np.testing.assert_array_equal(found[0], X[:3])
        np.testing.assert_array_equal(found[1], X[3:])
    with pytest.raises(OperandError, match="how many entries it takes is known only"):
        strategy.run(past_the_end, args=(tf.constant(X),))


@pytest.mark.parametrize("i", [0, 4, 5, 9, -1, -2])
def test_blocks_that_may_reach_past_the_end_are_as_short_as_in_numpy(i) -> None:
    @tf.function
    def block(x, i):
        return x[i : i + 2], x[..., i : i + 1]

    with pytest.warns(UserWarning, match=r"block runs as Python.*x\[\?:\?\] of an array of shape"):
        found = block(tf.constant(X), tf.constant(i))
    np.testing.assert_array_equal(found[0], X[i : i + 2])
    np.testing.assert_array_equal(found[1], X[..., i : i + 1])


def test_the_last_chunk_of_a_loop_may_be_short() -> None:
    @tf.function
    def total(x):
        found = tf.constant(0.0)
        for i in tf.range(0, 5, 2):
            found += tf.reduce_sum(x[i : i + 2])
        return found

    with pytest.warns(UserWarning, match="total runs as Python"):
        assert float(total(tf.range(5.0))) == 10.0
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with pytest.raises(ValueError, match="Take a block of known size that lies inside"):
        strategy.run(lambda x, i: x[i : i + 2], args=(tf.constant(X), tf.constant(1)))


def test_gradients_come_back_to_the_block() -> None:
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.constant(0.0)
            for i in tf.range(3, 5):
                y += tf.reduce_sum(x[i : i + 1] ** 2)
        return tape.gradient(y, x)

    expected = np.zeros_like(X)
    expected[3:5] = 2 * X[3:5]
    np.testing.assert_array_equal(slope(tf.constant(X)), expected)


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
