"""`numpy_input_fn`: batches of arrays."""

import numpy as np
import pytest

from frontends import tf

X = {"age": np.arange(5.0), "name": np.array(["a", "b", "c", "d", "e"])}
Y = np.arange(5)


def _batches(dataset, count=10):
    return [one for one, _ in zip(dataset.as_numpy_iterator(), range(count), strict=False)]


def test_batches_go_on_into_the_next_epoch_and_the_last_may_be_smaller():
    input_fn = tf.estimator.inputs.numpy_input_fn(X, Y, batch_size=4, num_epochs=2, shuffle=False)
    batches = _batches(input_fn())
    assert [y.tolist() for _, y in batches] == [[0, 1, 2, 3], [4, 0, 1, 2], [3, 4]]
    assert batches[1][0]["age"].tolist() == [4, 0, 1, 2]
    assert batches[2][0]["name"].tolist() == [b"d", b"e"]


def test_rows_repeat_without_end_where_no_epochs_are_given():
    input_fn = tf.compat.v1.estimator.inputs.numpy_input_fn(
        X["age"], batch_size=3, num_epochs=None, shuffle=False
    )
    assert [one.tolist() for one in _batches(input_fn(), 3)] == [[0, 1, 2], [3, 4, 0], [1, 2, 3]]


def test_shuffled_rows_are_all_there_in_each_epoch():
    input_fn = tf.estimator.inputs.numpy_input_fn(X, Y, 5, num_epochs=3, shuffle=True)
    for features, labels in _batches(input_fn()):
        assert sorted(labels.tolist()) == [0, 1, 2, 3, 4]
        np.testing.assert_array_equal(features["age"], labels)


def test_labels_may_be_several():
    input_fn = tf.estimator.inputs.numpy_input_fn(X, {"a": Y, "b": -Y}, 2, shuffle=False)
    labels = _batches(input_fn())[1][1]
    assert {key: one.tolist() for key, one in labels.items()} == {"a": [2, 3], "b": [-2, -3]}


@pytest.mark.parametrize(
    ("x", "y", "error", "words"),
    [
        ({}, None, ValueError, "empty dict"),
        (np.zeros(0), None, ValueError, "empty array"),
        ([1, 2], None, TypeError, "dict or array; got list"),
        (X, {}, ValueError, "use None instead"),
        (X, {"age": Y}, ValueError, "1 duplicate keys"),
        (X, Y[:3], ValueError, "same length"),
    ],
)
def test_rows_that_do_not_fit_are_refused_when_it_is_called(x, y, error, words):
    input_fn = tf.estimator.inputs.numpy_input_fn(x, y, shuffle=False)
    with pytest.raises(error, match=words):
        input_fn()


def test_whether_to_shuffle_must_be_said():
    with pytest.raises(ValueError, match="shuffle must be provided"):
        tf.estimator.inputs.numpy_input_fn(X, Y)
