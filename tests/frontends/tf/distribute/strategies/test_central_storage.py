"""`CentralStorageStrategy` computes what `MirroredStrategy` computes."""

import pytest

from frontends import tf


def test_central_storage_trains_as_mirrored_does():
    central = tf.distribute.experimental.CentralStorageStrategy(["cpu:0", "cpu:1"])
    assert central.extended.parameter_devices == ("/job:localhost/replica:0/task:0/device:CPU:0",)
    assert len(central.extended.worker_devices) == 2
    with central.scope():
        weight = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss((weight * x) ** 2)
        gradient = tape.gradient(loss, weight)
        total = tf.distribute.get_replica_context().all_reduce("SUM", gradient)
        weight.assign_sub(0.1 * total)
        return loss

    for batch in central.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0]).batch(4)
    ):
        loss = central.reduce("SUM", central.run(step, args=(batch,)), axis=None)
    assert float(loss) == 7.5
    assert float(weight) == pytest.approx(1 - 0.1 * 15.0)
