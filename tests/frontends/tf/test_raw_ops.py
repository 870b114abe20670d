"""Operations by their names in graphs; recorded cases hold the numbers to TensorFlow's."""

import pytest

from frontends import tf
from frontends.tf import raw_ops


def test_each_operation_is_a_function_that_exists():
    for name in dir(raw_ops):
        path = getattr(raw_ops, name).__doc__.partition("`tf.")[2].partition("`")[0]
        owner = tf
        for part in path.split(".") if path else ():
            owner = getattr(owner, part)
        assert callable(owner) or not path


def test_arguments_are_named():
    assert tf.raw_ops.AddV2(x=[1], y=[2]).tolist() == [3]
    with pytest.raises(TypeError, match="positional"):
        tf.raw_ops.AddV2([1], [2])
    with pytest.raises(AttributeError, match=r"tf\.raw_ops\.VarHandleOp is not part"):
        _ = tf.raw_ops.VarHandleOp
