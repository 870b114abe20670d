"""Modes of variables by their names."""

import pytest

from frontends import tf
from tests.frontends.tf.variables import MEAN, make_variable


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


def test_modes_that_do_not_exist(strategy):
    with pytest.raises(ValueError, match="Invalid variable synchronization mode: foo"):
        tf.Variable(1.0, synchronization="foo")
    with pytest.raises(ValueError, match="Invalid variable aggregation mode: foo"):
        tf.Variable(1.0, aggregation="foo")
    with pytest.raises(ValueError, match="`NONE` variable synchronization mode"):
        make_variable(strategy, synchronization=tf.VariableSynchronization.NONE)
    with pytest.raises(ValueError, match="non-floating dtype is not supported"):
        make_variable(strategy, 1, aggregation=MEAN)
