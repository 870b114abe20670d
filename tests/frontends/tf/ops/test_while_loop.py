"""`tf.while_loop`; the numbers are TensorFlow's."""

import collections

import jax.numpy as jnp
import pytest

from frontends import tf
from tests.frontends.tf.ops.running import everywhere

Pair = collections.namedtuple("Pair", ["count", "total"])


def test_structures_come_back_as_they_went_in():
    def function(x):
        pair, rest = tf.while_loop(
            lambda pair, rest: pair.count < 3,
            lambda pair, rest: (Pair(pair.count + 1, pair.total * x), {"a": [rest["a"][0] + 1]}),
            [Pair(0, tf.constant(1.0)), {"a": [x]}],
        )
        assert isinstance(pair, Pair)
        return pair, rest

    assert everywhere(function, 2.0) == (Pair(3, 8.0), {"a": [5.0]})


def test_one_variable():
    assert everywhere(lambda x: tf.while_loop(lambda y: y < 9, lambda y: y * 2, x), 3) == 12
    assert everywhere(lambda x: tf.while_loop(lambda y: y < 9, lambda y: y * 2, [x]), 3) == [12]


@pytest.mark.parametrize(("limit", "expected"), [(0, 3.0), (2, 27.0), (2_000, 243.0)])
def test_maximum_iterations(limit, expected):
    def function(x):
        return tf.while_loop(
            lambda y: y < 100, lambda y: [y * x], [x], None, maximum_iterations=limit
        )[0]

    assert everywhere(function, 3.0) == expected


def test_a_limit_that_the_program_computes():
    def function(limit):
        return tf.while_loop(lambda y: y < 100, lambda y: y + 1, 0, maximum_iterations=limit)

    assert everywhere(function, 7) == 7


@pytest.mark.parametrize("limit", [5, 5_000])
def test_gradient_of_a_bounded_loop(limit):
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            (y,) = tf.while_loop(
                lambda y: y < 100.0, lambda y: (y * y,), (x,), maximum_iterations=limit
            )
        return y, tape.gradient(y, x)

    assert everywhere(gradient, 2.0) == (256, 1024)


def test_gradient_of_a_loop_without_a_bound():
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            (y,) = tf.while_loop(lambda y: y < 100.0, lambda y: (y * y,), (x,))
        return tape.gradient(y, x)

    assert gradient(tf.constant(2.0)) == 1024
    assert tf.function(gradient)(tf.constant(2.0)) == 1024


def test_variables_assigned_in_the_body():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        total = tf.Variable(0)

    def step(n):
        def body(i):
            total.assign_add(i)
            return i + 1

        return tf.while_loop(lambda i: i < n, body, [0])[0]

    run = tf.function(lambda n: strategy.run(step, (n,)))
    run(tf.constant(5))
    run(tf.constant(3))
    assert total.numpy() == 13


def test_what_cannot_loop():
    one = tf.constant([1.0])
    with pytest.raises(ValueError, match="no loop variables"):
        tf.while_loop(lambda: True, lambda: (), [])
    with pytest.raises(TypeError, match="'body' must be callable"):
        tf.while_loop(lambda x: True, 1, [one])
    with pytest.raises(ValueError, match="differ"):
        tf.while_loop(lambda x: True, lambda x: (x, x), [one])
    with pytest.raises(ValueError, match="one truth value"):
        tf.function(lambda: tf.while_loop(lambda x: x < 1, lambda x: x, [jnp.ones(2)]))()
    with pytest.raises(TypeError, match=r"float32\[1\] to float32\[2\]"):
        tf.function(
            lambda x: tf.while_loop(lambda x: x[0] < 9, lambda x: tf.concat([x, one], 0), [x])
        )(one)


def test_arrays_that_grow_as_the_invariants_say():
    def grow(x, **options):
        start = (tf.constant(0), x)
        return tf.while_loop(
            lambda i, y: i < 2, lambda i, y: (i + 1, tf.concat([y, y], 0)), start, **options
        )[1]

    shapes = (tf.TensorShape([]), tf.TensorShape([None]))
    function = tf.function(lambda x: grow(x, shape_invariants=shapes))
    with pytest.warns(UserWarning, match=r"runs as Python.*shape_invariants.*tf.TensorArray"):
        assert function(tf.constant([1, 2])).tolist() == [1, 2] * 4
    assert function(tf.constant([3])).tolist() == [3] * 4
    with pytest.raises(TypeError, match="changes its carry"):
        tf.function(grow)(tf.constant([1, 2]))
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with pytest.raises(TypeError, match="changes its carry"):
        strategy.run(grow, args=(tf.constant([1, 2]),), kwargs={"shape_invariants": shapes})
