"""What TensorFlow 2.21 stacks of a TensorArray that a dataset's function did not write to: zeros of the shape that it traced."""

import jax
import numpy as np
import pytest

from frontends import tf


def _results(function, elements):
    return [
        np.asarray(one).tolist()
        for one in tf.data.Dataset.from_tensor_slices(elements).map(function)
    ]


def _matching(x):
    """Writes the place of the one number that is x, which the count of places keeps from being a program."""
    found = tf.TensorArray(tf.int32, 1, dynamic_size=True)
    matches = tf.equal(tf.constant([1, 2, 3]), x)
    if tf.reduce_any(matches):
        place = tf.cast(tf.where(matches), tf.int32)
        found = found.write(0, [place[0][0], x])
    return found.stack()


@pytest.mark.parametrize(
    "function", [_matching, tf.function(_matching)], ids=["map", "tf.function"]
)
def test_an_array_that_nothing_was_written_to_has_zeros_of_the_shape_that_a_write_would_tell(
    function,
):
    assert _results(function, [9, 2]) == [[[0, 0]], [[1, 2]]]


def test_an_array_without_elements_has_their_shape():
    def repeated(times):
        rows = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        if tf.shape(tf.where([times > 0, False]))[0] > 0:
            rows = rows.write(0, tf.constant([1.0, 2.0]))
        return rows.stack()

    dataset = tf.data.Dataset.from_tensor_slices([0, 1]).map(repeated)
    assert [np.shape(one) for one in dataset] == [(0, 2), (1, 2)]


def test_arrays_of_a_function_in_a_function_are_told_apart():
    inner = tf.function(_matching)

    def outer(x):
        pair = tf.TensorArray(tf.float32, 1)
        rows = inner(x)
        if tf.shape(tf.where(rows[:, 1] > 1))[0] > 0:
            pair = pair.write(0, tf.zeros((2, 3)))
        return pair.stack(), rows

    for first, second in tf.data.Dataset.from_tensor_slices([9, 2]).map(outer):
        assert np.shape(first) == (1, 2, 3)
        assert np.shape(second) == (1, 2)


def test_an_array_that_nothing_would_be_written_to_is_an_error_still():
    def function(x):
        rows = tf.TensorArray(tf.float32, 1)
        if tf.shape(tf.where([x > 0]))[0] > 5:
            x = x + 1
        return rows.stack()

    with pytest.raises(ValueError, match="read before it was written"):
        _results(function, [1, 2])


@pytest.fixture
def _seeded():
    tf.random.set_seed(5)
    yield
    tf.random.set_seed(None)


def _shape_of_rows(x):
    """The shape of what is stacked: one row where x is above 1, and none elsewhere."""
    rows = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    if x > 1:
        rows = rows.write(0, tf.zeros([3]))
    return tf.shape(rows.stack())


@pytest.mark.parametrize("in_keras", [False, True])
def test_looking_for_shapes_writes_no_variable(in_keras):
    count = tf.keras.Variable(0, dtype="int32") if in_keras else tf.Variable(0, dtype=tf.int64)

    def function(x):
        count.assign(count + tf.constant(1, count.dtype))
        return _shape_of_rows(x)

    assert _results(function, [0, 1, 2]) == [[0, 3], [0, 3], [1, 3]]
    assert int(count.numpy()) == 3


def _drawn(elements):
    tf.random.set_seed(5)

    def function(x):
        count = tf.Variable(0)  # keeps it from being a program
        count.assign(1)
        drawn = tf.random.uniform([])
        _shape_of_rows(x)
        return drawn

    return _results(function, elements)


@pytest.mark.usefixtures("_seeded")
def test_looking_for_shapes_draws_no_random_numbers():
    assert _drawn([0, 0, 0]) == _drawn([2, 2, 2])


@pytest.mark.parametrize("wrapped", [lambda function: function, tf.function])
def test_shapes_are_looked_for_once_for_arguments_of_the_same_shapes(wrapped):
    calls = []

    @wrapped
    def function(x):
        calls.append(x)
        if len(calls) == 1:
            np.asarray(x)  # keeps it from being a program
        return _shape_of_rows(x)

    assert _results(function, [0] * 5) == [[0, 3]] * 5
    assert len(calls) == 1 + 5 + 1
    assert not any(isinstance(x, jax.core.Tracer) for x in calls[3:])


def test_texts_may_decide_what_is_written():
    def function(name, x):
        np.asarray(name)  # keeps it from being a program
        rows = tf.TensorArray(tf.float32, 1)
        if name == "long":
            if x > 2:
                rows = rows.write(0, tf.zeros([3]))
        elif x > 2:
            rows = rows.write(0, tf.zeros([2]))
        return tf.shape(rows.stack())

    names = ["long", "short", "long"]
    assert _results(function, (names, [0, 0, 1])) == [[1, 3], [1, 2], [1, 3]]
