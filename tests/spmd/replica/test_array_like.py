"""What stands for an array behaves as one in arithmetic."""

import jax.numpy as jnp
import numpy as np
import pytest

from spmd.replica.array_like import ArrayLike, array_of


class Pair(ArrayLike):
    def __jax_array__(self):
        return jnp.array([1, 4])


def test_operators_on_both_sides():
    pair = Pair()
    for result, expected in (
        (pair + 1, [2, 5]),
        (2 - pair, [1, -2]),
        (pair * pair, [1, 16]),
        (np.array([8, 8]) // pair, [8, 2]),
        (-pair, [-1, -4]),
        (pair == 4, [False, True]),
        (pair > np.array([0, 9]), [True, False]),
    ):
        np.testing.assert_array_equal(result, expected)


def test_only_a_single_value_is_a_number():
    with pytest.raises(TypeError):
        float(Pair())


def test_other_values_are_themselves():
    assert array_of(3) == 3
    np.testing.assert_array_equal(array_of(Pair()), [1, 4])
