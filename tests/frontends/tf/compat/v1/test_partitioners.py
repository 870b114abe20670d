"""Partitioners, as TensorFlow 2.15 gives them."""

import pytest

from frontends.tf.compat import v1


@pytest.mark.parametrize(
    ("settings", "shape", "expected"),
    [
        ({"max_partitions": 3}, [5, 200], [1, 1]),
        ({"max_partitions": 3}, [3, 70000], [3, 1]),
        ({"max_partitions": 4, "min_slice_size": 1000}, [1000, 2], [4, 1]),
        ({"max_partitions": 4, "axis": 1, "min_slice_size": 64}, [1000, 2], [1, 2]),
    ],
)
def test_parts_have_at_least_a_size(settings, shape, expected):
    assert v1.min_max_variable_partitioner(**settings)(shape, "float32") == expected


@pytest.mark.parametrize(
    ("settings", "shape", "expected"),
    [
        ({"max_shard_bytes": 100}, [1000, 2], [84, 1]),
        ({"max_shard_bytes": 100}, [3, 70], [3, 1]),
        ({"max_shard_bytes": 4000, "axis": 1}, [1000, 2], [1, 2]),
        ({"max_shard_bytes": 100, "max_shards": 3}, [5, 200], [3, 1]),
    ],
)
def test_parts_have_at_most_a_size(settings, shape, expected):
    assert v1.variable_axis_size_partitioner(**settings)(shape, "float32") == expected


def test_a_part_has_a_size():
    with pytest.raises(ValueError, match="at least 1"):
        v1.variable_axis_size_partitioner(0)


@pytest.mark.parametrize(
    ("arguments", "shape", "expected"),
    [((3,), [5, 2], [3, 1]), ((3,), [2, 5], [2, 1]), ((3, 1), [2, 5], [1, 3])],
)
def test_an_axis_has_a_fixed_number_of_parts(arguments, shape, expected):
    assert v1.fixed_size_partitioner(*arguments)(shape, "float32") == expected
