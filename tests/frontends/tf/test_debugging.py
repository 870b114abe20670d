"""`tf.debugging`: checks raise now, and warn in programs, where there are no numbers."""

import jax
import numpy as np
import pytest

from frontends import tf


@pytest.mark.parametrize(
    ("check", "holds", "fails"),
    [
        (tf.debugging.assert_equal, (1, 1), ([1, 2], [1, 3])),
        (tf.debugging.assert_less, (1, [2, 3]), (2, [2, 3])),
        (tf.debugging.assert_greater, ([2, 3], 1), ([2, 3], 2)),
        (tf.debugging.assert_near, (1.0, 1.0 + 1e-7), (1.0, 1.001)),
    ],
)
def test_checks(check, holds, fails):
    check(*holds)
    with pytest.raises(tf.errors.InvalidArgumentError, match="mine: "):
        check(*fails, message="mine")


def test_tolerances_of_assert_near_add_up():
    tf.debugging.assert_near(1.0, 1.2, atol=0.1, rtol=0.1)
    with pytest.raises(ValueError, match="assert_near"):
        tf.debugging.assert_near(1.0, 1.3, atol=0.1, rtol=0.1)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_check_numerics(value):
    assert tf.debugging.check_numerics(2.0, "loss").numpy() == 2.0
    with pytest.raises(ValueError, match="loss"):
        tf.debugging.check_numerics([1.0, value], "loss")


def test_a_check_in_a_program_warns():
    @jax.jit
    def program(x):
        tf.debugging.assert_equal(x, 1)
        return x

    with pytest.warns(RuntimeWarning, match="left out of the program"):
        program(2)
