"""`tf.scan`, `tf.foldl`, `tf.foldr` and `tf.map_fn`; the numbers are TensorFlow's."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.ops.running import everywhere

X = np.float32([1, 2, 4])


def test_scan():
    def function(x):
        def add(a, b):
            return a + b

        return [
            tf.scan(add, x),
            tf.scan(add, x, reverse=True),
            tf.scan(lambda a, b: a * b, x, initializer=tf.constant(2.0)),
            tf.scan(lambda a, b: a - b, x, 1.0, reverse=True),
        ]

    assert everywhere(function, X) == [[1, 3, 7], [7, 6, 4], [2, 4, 16], [-6, -5, -3]]


def test_scan_of_structures():
    def function(x):
        return tf.scan(lambda a, _: (a[1], a[0] + a[1]), x, initializer=(0, 1))

    assert everywhere(function, np.arange(6)) == ([1, 1, 2, 3, 5, 8], [1, 2, 3, 5, 8, 13])

    def pairs(x):
        return tf.scan(lambda a, e: a + e["u"] * e["v"], {"u": x, "v": x}, initializer=0.0)

    assert everywhere(pairs, X) == [1, 5, 21]


def test_gradients_of_scan_and_fold():
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.scan(lambda a, b: a * b, x)[-1] + tf.foldr(lambda a, b: a * b + b, x, 1.0)
        return y, tape.gradient(y, x)

    assert everywhere(gradient, X) == (8 + 19, [8 + 19, 4 + 9, 2 + 4])


def test_folds():
    def function(x):
        def minus(a, b):
            return a - b

        return [tf.foldl(minus, x), tf.foldr(minus, x), tf.foldl(minus, x, 1.0)]

    assert everywhere(function, X) == [-5, 1, -6]


def test_folds_that_write_variables():
    total = tf.Variable(0.0)

    def add(a, b):
        total.assign_add(b)
        return a + b

    program = tf.function(lambda x: (tf.foldl(add, x), tf.map_fn(lambda b: add(0.0, b), x)))
    program(X)
    assert total.numpy() == (2 + 4) + (1 + 2 + 4)  # foldl takes the first row as it is
    tf.scan(add, X, 0.0)
    assert total.numpy() == 20


def test_wrong_arguments():
    with pytest.raises(TypeError, match="fn must be callable"):
        tf.scan(1, X)
    with pytest.raises(ValueError, match="not scalars"):
        tf.map_fn(abs, 1.0)
    with pytest.raises(ValueError, match="3, 2 rows"):
        tf.foldl(lambda a, b: a, (X, X[:2]))
    with pytest.raises(ValueError, match="Give an initializer"):
        tf.foldl(lambda a, b: a, X[:0])
    with pytest.raises(ValueError, match="a structure like the initializer"):
        tf.scan(lambda a, b: (a, b), X)
    assert tf.scan(lambda a, b: a, X[:0], tf.zeros(2)).shape == (0, 2)


def test_map_fn():
    x = np.arange(6.0, dtype=np.float32).reshape(3, 2)
    assert everywhere(lambda x: tf.map_fn(tf.reduce_sum, x, parallel_iterations=4), x) == [1, 5, 9]

    def pair(x):
        return tf.map_fn(lambda t: (t[0] + t[1], t[0]), (x, x), dtype=(tf.float32, tf.float32))

    assert everywhere(pair, X) == ([2, 4, 8], [1, 2, 4])

    def other_types(x):
        signature = (tf.TensorSpec([], tf.int32), tf.bool)
        return tf.map_fn(lambda t: (1, t > 1), x, fn_output_signature=signature)

    assert everywhere(other_types, X) == ([1, 1, 1], [False, True, True])


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "program"])
def test_map_fn_says_what_it_returns(wrap):
    with pytest.raises(ValueError, match=r"fn_output_signature=tf\.bool"):
        wrap(lambda x: tf.map_fn(lambda t: t > 1, x))(X)
    with pytest.raises(ValueError, match="returned 2 arrays, but fn_output_signature names 3"):
        wrap(lambda x: tf.map_fn(lambda t: (t, t), x, dtype=[tf.int32] * 3))(X)


def test_map_fn_is_called_for_each_row_eagerly_and_once_in_a_program():
    calls = []

    def double(t):
        calls.append(t)
        return t * 2

    tf.map_fn(double, X)
    assert len(calls) == 3
    assert float(calls[2]) == 4
    tf.function(lambda x: tf.map_fn(double, x))(X)
    assert len(calls) == 4


def test_map_fn_without_rows():
    def empty(x):
        return tf.map_fn(lambda t: t * 2, x)

    assert empty(tf.zeros([0, 3])).shape == tf.function(empty)(tf.zeros([0, 3])).shape == (0, 3)
    assert tf.map_fn(lambda t: t, tf.zeros([0]), fn_output_signature=tf.int32).dtype == tf.int32


def test_map_fn_converts_its_function():
    def clipped(x):
        if x > 2:
            return x * 0 + 2
        return x

    x = tf.constant([1.0, 5.0])
    for run in (tf.map_fn, tf.function(tf.map_fn)):
        assert run(clipped, x).numpy().tolist() == [1.0, 2.0]
