"""The two reductions, and the ways to spell them."""

import pytest

from frontends import tf
from frontends.tf.distribute.reduce_op import op_name


def test_members():
    assert {op.name: op.value for op in tf.distribute.ReduceOp} == {"SUM": "SUM", "MEAN": "MEAN"}


@pytest.mark.parametrize("op", [tf.distribute.ReduceOp.SUM, "SUM", "sum", "Sum"])
def test_sum(op):
    assert op_name(op) == "sum"


@pytest.mark.parametrize("op", [tf.distribute.ReduceOp.MEAN, "MEAN", "mean", "Mean"])
def test_mean(op):
    assert op_name(op) == "mean"


@pytest.mark.parametrize("op", ["MAX", "min", "foo", "", None, 0, b"SUM", sum, ["SUM"]])
def test_there_is_no_other(op):
    with pytest.raises(ValueError, match=r"Unknown reduction .*ReduceOp\.SUM"):
        op_name(op)
