"""Checks of shapes and dtypes, which raise in programs, too."""

import numpy as np
import pytest

from frontends import tf

debugging = tf.debugging
ROWS = tf.ones([2, 3])


@pytest.mark.parametrize(
    ("check", "holds", "fails", "error"),
    [
        (debugging.assert_rank, (ROWS, 2), (ROWS, 1), ValueError),
        (tf.assert_rank, (5.0, 0), ([5.0], tf.constant(0)), ValueError),
        (debugging.assert_rank_at_least, (ROWS, 1), (ROWS, 3), ValueError),
        (debugging.assert_rank_in, (ROWS, (2, 4)), (ROWS, [0, 1]), ValueError),
        (debugging.assert_scalar, (3,), ([3],), ValueError),
        (debugging.assert_integer, ([3],), ([3.0],), TypeError),
        (debugging.assert_type, (ROWS, tf.float32), (ROWS, tf.int32), TypeError),
        (debugging.assert_type, (["a"], tf.string), ([1], tf.string), TypeError),
        (debugging.assert_type, (np.zeros(2), tf.float64), (np.zeros(2), tf.int64), TypeError),
        (debugging.assert_type, (tf.constant(1), tf.int64), (tf.constant(1), tf.int8), TypeError),
    ],
)
def test_checks(check, holds, fails, error):
    assert check(*holds) is None
    with pytest.raises(error, match=r"mine\. "):
        check(*fails, message="mine")


def test_in_a_program():
    @tf.function
    def program(x):
        debugging.assert_rank(x, 2)
        debugging.assert_type(x, tf.float32)
        debugging.assert_shapes([(x, ("N", 3))])
        with pytest.raises(ValueError, match=r"must have rank 1\. Received rank 2, shape \(2, 3\)"):
            debugging.assert_rank(x, 1)
        return x

    program(ROWS)


def test_shapes():
    debugging.assert_shapes(
        [
            (ROWS, ("N", "Q")),
            (tf.ones([2, 7]), ("N", "D")),
            (tf.Variable([1.0, 2.0, 3.0]), "Q"),
            (1.0, ()),
            (ROWS, None),
            (tf.ones([5, 6, 2, 3]), (..., "N", "Q")),
            (tf.ones([5, 3]), ("*", 3)),
            (tf.ones([9, 3]), (None, "Q")),
            (tf.ones([9, 3]), (".", 3)),
            (ROWS, tf.TensorShape([None, 3])),
        ]
    )


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        ([(ROWS, ("N", "N"))], "dimension 1 must have size 2, .* Received size 3"),
        ([(ROWS, ("N", 3)), (tf.ones(4), ("N",))], r"must have size 2, as .*\(2, 3\)"),
        ([(ROWS, (2, 4))], "must have size 4, as the call says"),
        ([(ROWS, (2,))], "must have rank 1"),
        ([(ROWS, (..., 1, 2, 3))], "must have rank at least 3"),
        ([(ROWS, (2, ...))], "first"),
        ([(ROWS, 2)], "iterable"),
    ],
)
def test_shapes_that_differ(shapes, text):
    with pytest.raises(ValueError, match=rf"mine\. .*{text}"):
        debugging.assert_shapes(shapes, message="mine")


def test_one_float_dtype():
    assert debugging.assert_same_float_dtype() == tf.float32
    assert debugging.assert_same_float_dtype([tf.ones(1, tf.float16)]) == tf.float16
    assert debugging.assert_same_float_dtype([ROWS, None], tf.float32) == tf.float32
    for wrong in ([ROWS, tf.ones(1, tf.float16)], [tf.constant(1)]):
        with pytest.raises(ValueError, match="dtype"):
            debugging.assert_same_float_dtype(wrong)


def test_proper_iterables():
    debugging.assert_proper_iterable([1])
    for wrong in (ROWS, np.ones(2), "text", {"a": 1}, 3):
        with pytest.raises(TypeError, match="proper iterable"):
            debugging.assert_proper_iterable(wrong)


def test_numeric_tensors():
    assert debugging.is_numeric_tensor(ROWS)
    assert not debugging.is_numeric_tensor(tf.constant([True]))
    assert not debugging.is_numeric_tensor(3)
    assert not debugging.is_numeric_tensor(tf.constant("text"))
