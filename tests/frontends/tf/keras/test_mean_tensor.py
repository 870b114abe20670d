"""The metric that Keras 3 dropped."""

import numpy as np
import pytest

from frontends import tf

ROWS = np.arange(12, dtype=np.float32).reshape(6, 2)


def test_elements_are_averaged_over_the_updates_of_all_replicas():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        mean = tf.keras.metrics.MeanTensor()
    update = tf.function(lambda rows: strategy.run(mean.update_state, args=(rows,)))
    dataset = tf.data.Dataset.from_tensor_slices(ROWS).batch(2)
    for rows in strategy.experimental_distribute_dataset(dataset):
        update(rows)
    np.testing.assert_allclose(mean.result(), [ROWS.mean(0)])
    mean.reset_state()
    np.testing.assert_allclose(mean.result(), [[0, 0]])


def test_weights_of_rows():
    mean = tf.keras.metrics.MeanTensor(shape=[6, 2])
    mean.update_state(ROWS)
    mean.update_state(ROWS * 2, sample_weight=[1, 1, 1, 0, 0, 0])
    expected = np.concatenate([ROWS[:3] * 1.5, ROWS[3:]])
    np.testing.assert_allclose(mean.result(), expected)


def test_another_shape_and_no_value_are_refused():
    mean = tf.keras.metrics.MeanTensor()
    with pytest.raises(ValueError, match="no value yet"):
        mean.result()
    mean.update_state([1.0, 2.0])
    with pytest.raises(ValueError, match=r"\(3,\).*\(2,\)"):
        mean.update_state([1.0, 2.0, 3.0])
