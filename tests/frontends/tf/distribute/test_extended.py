"""`strategy.extended`, former names, options and planned names, beyond the golden cases."""

import pytest

from frontends import tf


def strategy_of(count=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def number():
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 1


def test_update_refuses_what_differs_between_replicas():
    strategy = strategy_of()
    value = strategy.run(number)
    variable = tf.Variable(1.0)
    with pytest.raises(ValueError, match="Combine it first"):
        strategy.extended.update(variable, lambda v, g: v.assign(g), args=(value,))
    total = strategy.extended.reduce_to("SUM", value, variable)
    strategy.extended.update(variable, lambda v, g: v.assign_sub(g), args=(total,))
    assert float(variable) == -2.0


def test_update_with_one_replica_takes_its_value():
    strategy = strategy_of(1)
    variable = tf.Variable(1.0)
    strategy.extended.update(variable, lambda v, g: v.assign(g + 1), args=(strategy.run(number),))
    assert float(variable) == 2.0


def test_update_in_a_merge_call():
    """As optimizers of TensorFlow 1 and 2.0 do: merge, reduce, update."""
    strategy = strategy_of()
    variable = tf.Variable(10.0)

    def apply(strategy, gradient):
        total = strategy.extended.batch_reduce_to("SUM", [(gradient, variable)])[0]
        strategy.extended.update(variable, lambda v, g: v.assign_sub(g), args=(total,))

    def replica():
        tf.distribute.get_replica_context().merge_call(apply, args=(number(),))

    strategy.run(replica)
    assert float(variable) == 7.0


@pytest.mark.parametrize("name", ["update", "broadcast_to", "reduce_to"])
def test_what_belongs_between_replicas_is_refused_inside(name):
    strategy = strategy_of()
    arguments = {
        "update": (1.0, lambda v: v),
        "broadcast_to": (1.0, "cpu:0"),
        "reduce_to": ("SUM", 1.0, "cpu:0"),
    }
    with pytest.raises(RuntimeError, match="inside a function that a strategy runs"):
        strategy.run(lambda: getattr(strategy.extended, name)(*arguments[name]))


def test_functions_of_tensorflow_1():
    strategy = strategy_of()
    extended = strategy.extended
    variable = tf.Variable(3.0)
    assert float(extended.read_var(variable)) == 3.0
    assert extended.broadcast_to(2.0, extended.worker_devices) == 2.0
    assert extended.non_slot_devices([variable]) == extended.worker_devices
    devices = extended.non_slot_devices([])
    assert extended.update_non_slot(devices, lambda x: x + 1, args=(1,), group=False) == (2, 2)
    assert [float(v) for v in extended.call_for_each_replica(number).values] == [1.0, 2.0]
    assert [float(v) for v in strategy.experimental_run_v2(number).values] == [1.0, 2.0]


def test_the_default_strategy_names_no_devices():
    extended = tf.distribute.get_strategy().extended
    with pytest.raises(RuntimeError, match="no strategy was chosen"):
        _ = extended.worker_devices
    with pytest.raises(RuntimeError, match="no strategy was chosen"):
        _ = extended.parameter_devices


def test_make_input_fn_iterator_takes_one_mode():
    mode = tf.distribute.InputReplicationMode.PER_REPLICA
    with pytest.raises(ValueError, match="PER_WORKER"):
        strategy_of().make_input_fn_iterator(lambda _: None, mode)


def test_central_storage_trains_as_mirrored_does():
    central = tf.distribute.experimental.CentralStorageStrategy(["cpu:0", "cpu:1"])
    assert central.extended.parameter_devices == ("/job:localhost/replica:0/task:0/device:CPU:0",)
    assert len(central.extended.worker_devices) == 2
    with central.scope():
        weight = tf.Variable(1.0)

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


def test_cross_device_ops_reduce():
    strategy = strategy_of()
    value = strategy.run(number)
    ops = tf.distribute.ReductionToOneDevice()
    assert float(ops.reduce("MEAN", value, "cpu:0")) == 1.5
    assert [float(v) for v in ops.batch_reduce("SUM", [(value, "cpu:0"), (value, "cpu:1")])] == [
        3,
        3,
    ]
    assert ops.broadcast(1.0, "cpu:0") == 1.0
    assert ops.reduce("SUM", 4.0, "cpu:0") == 4.0


def test_options_are_checked():
    options = tf.distribute.experimental.CommunicationOptions(implementation="ring")
    assert options.implementation.name == "RING"
    with pytest.raises(ValueError, match="bytes_per_pack"):
        tf.distribute.experimental.CommunicationOptions(bytes_per_pack=-1)
    with pytest.raises(ValueError, match="bytes_per_pack"):
        tf.distribute.experimental.CollectiveHints(bytes_per_pack=-1)
    with pytest.raises(ValueError, match="SOCKETS"):
        tf.distribute.experimental.CommunicationOptions(implementation="sockets")


@pytest.mark.parametrize(
    "name",
    ["TPUStrategy", "experimental.ParameterServerStrategy"],
)
def test_planned_names_say_so(name):
    owner = tf.distribute
    *path, last = name.split(".")
    for part in path:
        owner = getattr(owner, part)
    with pytest.raises(AttributeError, match="is planned, with support for clusters"):
        getattr(owner, last)


def test_distributed_values():
    strategy = strategy_of()
    seen = []
    tf.function(lambda x: seen.append(isinstance(x, tf.distribute.DistributedValues)))(
        strategy.run(number)
    )
    assert seen[0]
    assert not isinstance(1.0, tf.distribute.DistributedValues)
