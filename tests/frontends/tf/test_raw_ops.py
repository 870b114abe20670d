"""Operations by their names in graphs; recorded cases hold the numbers to TensorFlow's."""

import numpy as np
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


IMAGE = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


@pytest.mark.parametrize(
    ("name", "arguments", "fixed"),
    [
        ("BatchMatMulV2", {"x": X, "y": X, "adj_x": False, "adj_y": False}, ["grad_x", False]),
        ("MatMul", {"a": X, "b": X, "transpose_a": False, "grad_b": False}, ["grad_a", False]),
        ("Equal", {"x": X, "y": X}, ["incompatible_shape_error", True]),
        ("NotEqual", {"x": X, "y": X}, ["incompatible_shape_error", True]),
        ("GatherNd", {"params": X, "indices": [[0, 1]]}, ["bad_indices_policy", ""]),
        (
            "Conv2D",
            {
                **{"input": IMAGE, "filter": np.ones((2, 2, 1, 1), np.float32)},
                **{"strides": [1, 1, 1, 1], "padding": "SAME", "use_cudnn_on_gpu": True},
                **{"data_format": "NHWC", "dilations": [1, 1, 1, 1]},
            },
            ["explicit_paddings", []],
        ),
        (
            "MaxPool",
            {
                **{"input": IMAGE, "ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1]},
                **{"padding": "SAME", "data_format": "NHWC"},
            },
            ["explicit_paddings", []],
        ),
    ],
)
def test_arguments_that_have_one_value(name, arguments, fixed):
    operation, (key, only) = getattr(tf.raw_ops, name), fixed
    given = operation(**arguments, **{key: only})
    np.testing.assert_array_equal(given, operation(**arguments))
    with pytest.raises(ValueError, match=f"{name}: expected {key}="):
        operation(**arguments, **{key: [1] if only == [] else not only})


@pytest.mark.parametrize(
    ("weights", "expected"), [([], [0, 2, 0]), (np.array([1.5, 2.0, 4.0], np.float32), [0, 3.5, 0])]
)
def test_numbers_are_counted_up_to_a_size(weights, expected):
    found = tf.raw_ops.Bincount(arr=[1, 1, 5], size=3, weights=weights)
    assert found.tolist() == expected
