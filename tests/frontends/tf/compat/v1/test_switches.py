"""Switches of TensorFlow 1 exist in both places, and change nothing."""

import pytest

from frontends import tf


@pytest.mark.parametrize("what", ["eager_execution", "v2_behavior", "resource_variables"])
def test_switches_do_nothing(what):
    for verb in ("enable", "disable"):
        switch = getattr(tf, f"{verb}_{what}")
        assert switch is getattr(tf.compat.v1, f"{verb}_{what}")
        assert switch() is None
    assert tf.executing_eagerly()


def test_the_default_graph_needs_no_reset():
    assert tf.reset_default_graph() is None
    assert tf.compat.v1.enable_eager_execution(config=None) is None


def test_tensors_are_equal_by_their_elements():
    assert tf.compat.v1.enable_tensor_equality() is None
    assert tf.enable_tensor_equality is tf.compat.v1.enable_tensor_equality
    with pytest.raises(AttributeError, match="write `x is y`"):
        _ = tf.compat.v1.disable_tensor_equality
