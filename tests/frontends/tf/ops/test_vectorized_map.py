"""`tf.vectorized_map`; the numbers are TensorFlow's."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.ops.running import everywhere

X = np.float32([[1, 2], [3, 4]])


def test_all_rows_at_once():
    calls = []

    def times_sum(row):
        calls.append(row)
        return tf.reduce_sum(row) * row

    assert tf.vectorized_map(times_sum, X).tolist() == [[3, 6], [21, 28]]
    assert len(calls) == 1
    assert everywhere(lambda x: tf.vectorized_map(times_sum, x), X) == [[3, 6], [21, 28]]


def test_one_row_for_all():
    def function(x):
        return tf.vectorized_map(lambda pair: {"a": pair[0] * pair[1]}, (x, tf.constant([2.0])))

    assert everywhere(function, np.float32([1, 2, 3])) == {"a": [2, 4, 6]}


def test_gradient():
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.vectorized_map(lambda row: tf.reduce_sum(row**2), x)
        return tape.gradient(y, x)

    assert everywhere(gradient, X) == [[2, 4], [6, 8]]


def test_functions_that_look_at_values_go_row_by_row():
    def sign(row):
        return row if float(row[0]) > 2 else -row

    assert tf.vectorized_map(sign, X).tolist() == [[-1, -2], [3, 4]]
    with pytest.raises(ValueError, match=r"tf\.map_fn"):
        tf.vectorized_map(sign, X, fallback_to_while_loop=False)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "program"])
def test_every_row_draws_its_own_numbers(wrap):
    drawn = wrap(lambda x: tf.vectorized_map(lambda row: tf.random.uniform([]), x))(X)
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "program"])
def test_every_row_writes_variables(wrap):
    total = tf.Variable(0.0)

    def add(row):
        total.assign_add(row[0])
        return row

    wrap(lambda x: tf.vectorized_map(add, x))(X)
    assert total.numpy() == 4
    with pytest.raises(ValueError, match=r"assigns variables|is written inside"):
        wrap(lambda x: tf.vectorized_map(add, x, fallback_to_while_loop=False))(X)
    assert total.numpy() == 4
