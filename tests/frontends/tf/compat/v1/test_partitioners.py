"""Partitioners, as TensorFlow 2.15 gives them."""

import pytest

from frontends.tf.compat import v1


@pytest.mark.parametrize(
    ("arguments", "shape", "expected"),
    [((3,), [5, 2], [3, 1]), ((3,), [2, 5], [2, 1]), ((3, 1), [2, 5], [1, 3])],
)
def test_an_axis_has_a_fixed_number_of_parts(arguments, shape, expected):
    assert v1.fixed_size_partitioner(*arguments)(shape, "float32") == expected
