"""Summaries with the parameters of TensorFlow 1 and of TensorFlow 2."""

import pytest

from frontends import tf
from frontends.tf.graph import Graph


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: tf.summary.scalar("a", 1.0), ("a", "scalar", None)),
        (lambda: tf.summary.scalar(name="a", data=1.0), ("a", "scalar", None)),
        (lambda: tf.summary.scalar("a", tensor=1.0, family="b"), ("b/b/a", "scalar", None)),
        (lambda: tf.summary.histogram("a", values=[1.0]), ("a", "histogram", None)),
        (lambda: tf.summary.image("a", tf.ones([4, 1, 1, 1]), 2), ("a", "image", 2)),
        (lambda: tf.summary.text("a", "b", collections=["c"]), ("a", "text", None)),
    ],
)
def test_a_model_function_means_tensorflow_1(make, expected):
    with Graph().as_default():
        found = make()
    assert (found.name, found.kind, found.max_outputs) == expected


def test_a_step_means_tensorflow_2():
    with Graph().as_default(), tf.summary.create_noop_writer().as_default():
        assert tf.summary.scalar("a", 1.0, step=3) is True


def test_elsewhere_both_write():
    with tf.summary.create_noop_writer().as_default(step=1):
        assert tf.summary.scalar("a", 1.0) is True
        assert tf.summary.scalar("a", tensor=1.0) is True
