"""What counts as `tf.distribute.DistributedValues`."""

from frontends import tf


def number():
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 1


def strategy_of(count=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def test_distributed_values():
    strategy = strategy_of()
    seen = []
    tf.function(lambda x: seen.append(isinstance(x, tf.distribute.DistributedValues)))(
        strategy.run(number)
    )
    assert seen[0]
    assert not isinstance(1.0, tf.distribute.DistributedValues)


def test_variables_are_distributed_if_they_have_components():
    for strategy, expected in (
        (strategy_of(), True),
        (strategy_of(1), True),
        (tf.distribute.OneDeviceStrategy("cpu:0"), False),
        (tf.distribute.experimental.CentralStorageStrategy(["cpu:0", "cpu:1"]), False),
    ):
        with strategy.scope():
            variable = tf.Variable(1.0)
        assert isinstance(variable, tf.distribute.DistributedValues) is expected
        assert isinstance(variable, tf.Variable)
