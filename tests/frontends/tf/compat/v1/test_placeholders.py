"""Placeholders: arguments of an export, descriptions elsewhere, and errors of whoever computes with these."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.compat.v1.placeholders import Placeholders
from frontends.tf.feature_column import Texts
from frontends.tf.graph import Graph


def test_first_they_are_zeros():
    with Placeholders().as_current() as placeholders:
        x = tf.placeholder(tf.float32, [None, 3])
        text = tf.placeholder(tf.string, (None,))
        rate = tf.placeholder_with_default(0.5, [])
    assert x.shape == (2, 3)
    assert isinstance(text, Texts)
    assert rate == 0.5
    assert [(one.shape, one.dtype) for one in placeholders.made] == [
        ((None, 3), "float32"),
        ((None,), "string"),
        ((), "float32"),
    ]
    assert placeholders.index_of(text) == 1
    assert placeholders.index_of(rate + 1) is None


def test_then_they_are_what_is_fed():
    fed = np.ones((5, 3), np.float32)
    with Placeholders({1: fed}).as_current():
        first, second = (tf.compat.v1.placeholder("float32", [None, 3]) for _ in range(2))
    assert second is fed
    assert first.shape == (2, 3)


def test_a_default_keeps_its_shape_unless_another_is_given():
    with Placeholders().as_current() as placeholders:
        tf.placeholder_with_default(tf.ones([2, 3]), None)
        tf.placeholder_with_default(tf.ones([2, 3]), [None, 3])
    assert [one.shape for one in placeholders.made] == [(2, 3), (None, 3)]


def test_a_shape_is_needed():
    with Placeholders().as_current(), pytest.raises(ValueError, match="None for each size"):
        tf.placeholder(tf.float32)


def test_what_examples_hold_has_placeholders_of_its_own():
    spec = {
        "x": tf.io.FixedLenFeature([3], tf.float32),
        "words": tf.io.VarLenFeature(tf.string),
    }
    with Placeholders().as_current() as placeholders:
        found = tf.io.parse_example(tf.placeholder(tf.string, [None]), spec)
        with pytest.raises(NotImplementedError, match="reads FixedLenFeature and VarLenFeature"):
            tf.io.parse_example(
                tf.placeholder(tf.string, [None]), {"x": tf.io.RaggedFeature(tf.int64)}
            )
    assert found["x"].shape == (2, 3)
    assert isinstance(found["words"], Texts)
    assert [one.shape for one in placeholders.made[1:3]] == [(None, 3), (None, None)]
    assert {key: index for key, (_, index) in placeholders.parsed[0].items()} == {
        "x": 1,
        "words": 2,
    }


def test_elsewhere_they_only_describe():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    assert (x.get_shape().as_list(), x.dtype, x.name) == ([None, 2], tf.float32, "x")


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: tf.matmul(x, tf.ones([2, 3])),
        lambda x: 1 - x,
        lambda x: tf.ones([2]) * x,
        lambda x: tf.nn.relu(x),
        lambda x: x[0],
    ],
)
def test_nobody_computes_with_a_description(compute):
    with pytest.raises(RuntimeError, match="Give the function a parameter in its place"):
        compute(tf.placeholder(tf.float32, [None, 2]))


def test_a_model_function_has_none_but_their_defaults():
    with Graph().as_default():
        with pytest.raises(RuntimeError, match="a model function gets features, labels"):
            tf.placeholder(tf.float32, [])
        rate = tf.placeholder_with_default(0.5, [], name="rate")
        assert (rate, rate.name) == (0.5, "rate:0")
        with pytest.raises(ValueError, match="default of shape"):
            tf.placeholder_with_default([0.5], [])
