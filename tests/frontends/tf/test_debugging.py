"""`tf.debugging`: checks raise now, and warn in programs, where there are no numbers."""

import jax
import numpy as np
import pytest

from frontends import tf


@pytest.mark.parametrize(
    ("check", "holds", "fails"),
    [
        (tf.debugging.assert_equal, (1, 1), ([1, 2], [1, 3])),
        (tf.debugging.assert_less, (1, [2, 3]), (2, [2, 3])),
        (tf.debugging.assert_greater, ([2, 3], 1), ([2, 3], 2)),
        (tf.debugging.assert_near, (1.0, 1.0 + 1e-7), (1.0, 1.001)),
        (tf.debugging.assert_none_equal, (1, [2, 3]), (2, [2, 3])),
        (tf.debugging.assert_less_equal, (2, [2, 3]), (3, [2, 3])),
        (tf.debugging.assert_greater_equal, (3, [2, 3]), (2, [2, 3])),
        (tf.debugging.assert_positive, ([1],), ([1, 0],)),
        (tf.debugging.assert_negative, ([-1],), ([-1, 0],)),
        (tf.debugging.assert_non_negative, ([0],), ([0, -1],)),
        (tf.debugging.assert_non_positive, ([0],), ([0, 1],)),
    ],
)
def test_checks(check, holds, fails):
    check(*holds)
    with pytest.raises(tf.errors.InvalidArgumentError, match="mine: "):
        check(*fails, message="mine")
    program = tf.function(lambda *values: check(*values, message="mine"))
    program(*map(tf.constant, holds))
    with pytest.raises(tf.errors.InvalidArgumentError, match="mine: "):
        program(*map(tf.constant, fails))


def test_tolerances_of_assert_near_add_up():
    tf.debugging.assert_near(1.0, 1.2, atol=0.1, rtol=0.1)
    with pytest.raises(ValueError, match="assert_near"):
        tf.debugging.assert_near(1.0, 1.3, atol=0.1, rtol=0.1)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_check_numerics(value):
    assert tf.debugging.check_numerics(2.0, "loss").numpy() == 2.0
    with pytest.raises(ValueError, match="loss"):
        tf.debugging.check_numerics([1.0, value], "loss")


def test_a_check_in_a_program_of_jax_alone_warns():
    @jax.jit
    def program(x):
        tf.debugging.assert_equal(x, 1)
        return x

    with pytest.warns(RuntimeWarning, match="left out of the program"):
        program(2)


def test_assert_shows_data():
    def function(x):
        tf.Assert(tf.reduce_all(x > 0), ["x is", x])
        return tf.debugging.assert_all_finite(1 / x, "inverse")

    assert tf.function(function)(tf.constant([1.0])).tolist() == [1]
    for call in (function, tf.function(function)):
        with pytest.raises(ValueError, match=r"to be true.*x is \[-?0"):
            call(tf.constant([0.0]))


def test_a_check_on_replicas():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        total = tf.Variable(0)

    def step():
        context = tf.distribute.get_replica_context()
        index = context.replica_id_in_sync_group
        tf.debugging.assert_less(index, 1, message="replica")
        total.assign_add(context.all_reduce("SUM", index))

    for _ in range(2):
        with pytest.raises(ValueError, match=r"replica: .*failed for 1 and 1"):
            strategy.run(step)
    assert total.numpy() == 2  # unlike TensorFlow's, the program ran to its end
