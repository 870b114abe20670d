"""Modules that have another content in TensorFlow 1 than in TensorFlow 2."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

X, Y = np.float32([[1, 2], [3, 4]]), np.float32([[1, 1], [1, 1]])


def test_names_of_both_are_there():
    assert tf.losses.MeanSquaredError is tf.keras.losses.MeanSquaredError
    assert (
        tf.losses.sparse_categorical_crossentropy is tf.keras.losses.sparse_categorical_crossentropy
    )
    assert tf.losses.get_total_loss is tf.compat.v1.losses.get_total_loss
    assert {"Huber", "huber_loss", "mean_squared_error"} <= set(dir(tf.losses))
    with pytest.raises(AttributeError, match=r"tf\.losses\.nothing is not part of jaxtribute"):
        _ = tf.losses.nothing


def test_keras_is_meant_unless_parameters_are_those_of_tensorflow_1():
    assert tf.losses.mean_squared_error(Y, X).tolist() == [0.5, 6.5]
    assert float(tf.losses.mean_squared_error(labels=Y, predictions=X)) == 3.5
    assert float(tf.losses.mean_squared_error(Y, X, weights=2.0)) == 7.0


def test_tensorflow_1_is_meant_in_a_model_function():
    with Graph().as_default():
        assert float(tf.losses.mean_squared_error(Y, X)) == 3.5
        assert [float(one) for one in tf.losses.get_losses()] == [3.5]


def test_reductions_of_both_are_there():
    both = tf.losses.Reduction
    assert (both.AUTO, both.NONE) == ("sum_over_batch_size", "none")
    assert float(tf.losses.absolute_difference(Y, X, reduction=both.SUM)) == 6.0
    assert float(tf.losses.absolute_difference(Y, X, reduction=both.SUM_BY_NONZERO_WEIGHTS)) == 1.5
    assert tf.keras.losses.MeanSquaredError(reduction=both.SUM)(Y, X) == 7.0


def test_metrics_of_both_are_there():
    assert tf.metrics.SparseCategoricalAccuracy is tf.keras.metrics.SparseCategoricalAccuracy
    value, update = tf.metrics.accuracy(labels=np.array([1, 2, 3]), predictions=np.array([1, 2, 0]))
    assert float(value) == float(update) == pytest.approx(2 / 3)
    assert tf.metrics.mean_squared_error(Y, X).tolist() == [0.5, 6.5]
    with Graph().as_default():
        _, update = tf.metrics.mean_squared_error(Y, X)
    assert float(update) == 3.5
