"""How many shards partitioners make; the rules are TensorFlow's."""

import numpy as np
import pytest

from frontends import tf

partitioners = tf.distribute.experimental.partitioners


@pytest.mark.parametrize(
    ("partitioner", "shape", "expected"),
    [
        (partitioners.FixedShardsPartitioner(2), [10, 3], [2, 1]),
        (partitioners.FixedShardsPartitioner(4), [3, 3], [3, 1]),
        (partitioners.MinSizePartitioner(min_shard_bytes=8, max_shards=10), [6, 1], [3, 1]),
        (partitioners.MinSizePartitioner(min_shard_bytes=4, max_shards=2), [6, 1], [2, 1]),
        (partitioners.MinSizePartitioner(), [6, 1], [1, 1]),
        (partitioners.MaxSizePartitioner(max_shard_bytes=8), [6, 1], [3, 1]),
        (partitioners.MaxSizePartitioner(max_shard_bytes=4, max_shards=2), [6, 1], [2, 1]),
        (partitioners.MaxSizePartitioner(max_shard_bytes=1024), [6, 1], [1, 1]),
    ],
)
def test_shards(partitioner, shape, expected):
    assert partitioner(shape, tf.float32) == partitioner(shape, np.float32) == expected


def test_another_axis():
    assert partitioners.FixedShardsPartitioner(2)([10, 4], np.float32, axis=1) == [1, 2]


def test_sizes_are_positive():
    with pytest.raises(ValueError, match="max_shards must be positive"):
        partitioners.MinSizePartitioner(max_shards=0)
    with pytest.raises(ValueError, match="max_shard_bytes must be positive"):
        partitioners.MaxSizePartitioner(max_shard_bytes=0)


def test_only_a_maximum_size_goes_without_a_limit_of_shards():
    with pytest.raises(ValueError, match="max_shards must be positive, but is None"):
        partitioners.MinSizePartitioner(max_shards=None)
    assert partitioners.MaxSizePartitioner(4, max_shards=None)([2, 1], np.float32) == [2, 1]
