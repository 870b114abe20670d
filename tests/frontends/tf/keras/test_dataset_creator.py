"""`tf.keras.utils.experimental.DatasetCreator`."""

import numpy as np
import pytest

from frontends import tf

DatasetCreator = tf.keras.utils.experimental.DatasetCreator
ROWS = np.arange(12, dtype=np.float32).reshape(12, 1)


def make(context):
    rows = tf.data.Dataset.from_tensor_slices((ROWS, ROWS))
    return rows.batch(context.get_per_replica_batch_size(4))


def test_makes_the_dataset_of_a_context():
    creator = DatasetCreator(make, tf.distribute.InputOptions())
    assert len(creator(tf.distribute.InputContext(num_replicas_in_sync=2))) == 6


def test_wrong_values_are_refused():
    with pytest.raises(TypeError, match="must be a `callable`"):
        DatasetCreator(3)
    with pytest.raises(TypeError, match=r"must be a `tf\.distribute\.InputOptions`"):
        DatasetCreator(make, {"a": 1})
    with pytest.raises(TypeError, match="must return a Dataset"):
        DatasetCreator(lambda context: [1, 2])(tf.distribute.InputContext())


@pytest.mark.parametrize("devices", [["cpu:0"], ["cpu:0", "cpu:1"]])
def test_fit_evaluate_and_predict_take_it_under_other_strategies(devices):
    with tf.distribute.MirroredStrategy(devices).scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile("sgd", "mse")
    assert model.evaluate(DatasetCreator(make), verbose=0) == pytest.approx(0, abs=1e-6)
    history = model.fit(DatasetCreator(make), epochs=2, verbose=0)
    np.testing.assert_allclose(history.history["loss"], [0, 0], atol=1e-6)
