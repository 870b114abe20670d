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
