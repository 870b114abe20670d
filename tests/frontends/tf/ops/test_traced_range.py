"""Ranges whose ends only the running program knows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends.tf.ops.traced_range import TracedRange, UnknownLengthError


@pytest.mark.parametrize(
    "ends", [(0, 5, 1), (2, 9, 3), (9, 2, -3), (5, 5, 1), (5, 2, 1), (0.0, 1.0, 0.3)]
)
def test_it_counts_and_indexes_as_numpy_does(ends) -> None:
    @jax.jit
    def numbers(start, limit, delta):
        range_ = TracedRange(start, limit, delta)
        return range_.length, range_[jnp.arange(4)]

    length, first = numbers(*ends)
    expected = np.arange(*ends)
    assert int(length) == len(expected)
    np.testing.assert_allclose(first[: len(expected)], expected[:4], rtol=1e-6)


def test_it_is_no_array() -> None:
    range_ = TracedRange(0, jnp.int32(3), 1)
    for use in (list, jnp.asarray):
        with pytest.raises(UnknownLengthError, match="Loop over it with"):
            use(range_)
