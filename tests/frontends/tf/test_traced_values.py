"""What Python code gets that needs the value of a tensor."""

import traceback

import numpy as np
import pytest

from frontends import tf


def of_truth(x):
    return [y for y in x if y > 0]


def of_a_number(x):
    return int(x.sum()), float(np.sqrt(x[0]))


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (of_truth, r"whether a tensor is true at .*, `return \[y for y in x if y > 0\]`, but"),
        (lambda x: np.sqrt(x), "Python needs the value of a tensor"),
        (lambda x: [1, 2][tf.cast(x[0], tf.int32)], "Take sizes from x.shape"),
    ],
)
def test_the_error_is_tensorflows_and_names_the_line(function, says):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    x = tf.constant([1, 2])
    for call in (tf.function(function), lambda x: strategy.run(function, args=(x,))):
        with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match=says) as found:
            call(x)
        assert f"{__file__}:" in str(found.value)
        assert found.value.__suppress_context__
        names = [frame.name for frame in traceback.extract_tb(found.value.__traceback__)]
        assert function.__code__.co_name in names


def test_a_function_that_cannot_be_vectorized_runs_for_each_row():
    inner = tf.function(lambda x: x * 2.0 if float(x) > 1.0 else x)
    assert tf.vectorized_map(inner, tf.constant([1.0, 2.0])).tolist() == [1.0, 4.0]
