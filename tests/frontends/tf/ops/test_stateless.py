"""Random numbers of a seed; recorded cases hold shapes, types and moments to TensorFlow's."""

from frontends import tf


def test_seeds_of_a_seed_differ():
    seeds = tf.random.split([1, 2], 5)
    assert seeds.dtype == tf.int32
    assert len({tuple(one) for one in seeds.tolist()}) == 5
    assert tf.random.fold_in([1, 2], 0).tolist() != tf.random.fold_in([1, 2], 1).tolist()
