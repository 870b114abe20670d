"""`tf.gradients` and `tf.hessians`; the numbers are TensorFlow's."""

import pytest

from frontends import tf


def test_gradients_of_arrays_and_variables():
    weight = tf.Variable(3.0)
    traces = []

    @tf.function
    def program(x):
        traces.append(x)
        return tf.gradients([x * x * weight, x], [x, weight])

    assert program(tf.constant(2.0)) == [13, 4]
    assert program(tf.constant(1.0)) == [7, 1]
    assert len(traces) == 2


def test_options():
    @tf.function
    def program(x, y):
        weighted = tf.gradients(x * x, x, grad_ys=tf.constant([1.0, 10.0]))
        zero = tf.gradients(x, y, unconnected_gradients="zero")
        return *weighted, *tf.gradients(x, y), *zero

    found = program(tf.constant([1.0, 2.0]), tf.constant(1.0))
    assert (found[0].tolist(), found[1], found[2]) == ([2, 40], None, 0)
    with pytest.raises(NotImplementedError, match=r"tf\.stop_gradient"):
        tf.function(lambda x: tf.gradients(x, x, stop_gradients=[x]))(tf.constant(1.0))


def test_gradients_of_gradients():
    @tf.function
    def program(x):
        y, found = x**4, []
        for _ in range(4):
            (y,) = tf.gradients(y, x)
            found.append(y)
        return found

    assert program(tf.constant(2.0)) == [32, 48, 48, 24]


def test_hessians():
    @tf.function
    def program(x, y):
        return tf.hessians(tf.reduce_sum(x**3) + y, [x, y])

    first, second = program(tf.constant([1.0, 2.0]), tf.constant(5.0))
    assert first.tolist() == [[6, 0], [0, 12]]
    assert second == 0


def test_in_the_replicas_of_a_function():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        weight = tf.Variable(3.0)

    def step(x):
        (gradient,) = tf.gradients(weight * x * x, [weight])
        weight.assign_add(tf.distribute.get_replica_context().all_reduce("SUM", gradient))

    tf.function(lambda x: strategy.run(step, (x,)))(tf.constant(2.0))
    assert weight.numpy() == 11
    with pytest.raises(RuntimeError, match=r"tf\.GradientTape"):
        strategy.run(step, (tf.constant(2.0),))
    assert weight.numpy() == 11


def test_eagerly_it_raises():
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
        tf.gradients(tf.constant(1.0), tf.constant(1.0))
