"""Functions of datasets that methods replaced."""

from frontends import tf


def test_their_first_names():
    data = tf.contrib.data
    numbers = tf.data.Dataset.range(5)
    batches = numbers.apply(data.batch_and_drop_remainder(2))
    assert [one.tolist() for one in batches.as_numpy_iterator()] == [[0, 1], [2, 3]]
    pairs = numbers.take(2).apply(data.enumerate_dataset(7))
    assert [tuple(map(int, one)) for one in pairs.as_numpy_iterator()] == [(7, 0), (8, 1)]
    assert data.map_and_batch is tf.data.experimental.map_and_batch
    assert data.AUTOTUNE == -1
