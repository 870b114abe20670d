"""Assigning to a `tf.Variable`, in replicas and between them."""

import numpy as np
import pytest

import spmd
from frontends import tf
from frontends.tf.graph import Graph
from tests.frontends.tf.variables import (
    FIRST,
    MEAN,
    ON_READ,
    SUM,
    components,
    each_writes,
    make_variable,
)


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


# As recorded from TensorFlow: assign, assign_add, assign_sub of 1 and 2, from 10.
@pytest.mark.parametrize(
    ("aggregation", "results"), [(SUM, (3, 13, 7)), (MEAN, (1.5, 11.5, 8.5)), (FIRST, (1, 11, 9))]
)
def test_what_replicas_write_is_combined(strategy, aggregation, results):
    for verb, expected in zip(("assign", "assign_add", "assign_sub"), results, strict=True):
        variable = make_variable(strategy, aggregation=aggregation)
        assert each_writes(strategy, variable, verb) == [expected, expected]
        assert variable.numpy() == expected
        assert components(variable) == [expected, expected]


def test_without_an_aggregation_replicas_may_not_drift(strategy):
    variable = make_variable(strategy, name="drifting")
    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="drifting"):
        each_writes(strategy, variable, "assign")
    assert variable.numpy() == 10.0
    strategy.run(lambda: variable.assign(3.0))
    assert variable.numpy() == 3.0


@pytest.mark.parametrize(("aggregation", "each", "mean"), [(SUM, 4, 4), (MEAN, 8, 8)])
def test_reducing_what_was_assigned_between_the_replicas(strategy, aggregation, each, mean):
    variable = make_variable(strategy, synchronization=ON_READ, aggregation=aggregation)
    variable.assign(8.0)
    assert float(strategy.reduce("MEAN", variable, axis=None)) == mean
    assert [float(value) for value in strategy.experimental_local_results(variable)] == [each] * 2


def test_assigning_between_the_replicas(strategy):
    for aggregation, expected in ((SUM, [4, 4]), (MEAN, [8, 8]), (FIRST, [8, 8])):
        variable = make_variable(strategy, synchronization=ON_READ, aggregation=aggregation)
        variable.assign(8.0)
        assert components(variable) == expected
        assert variable.numpy() == 8
    variable = make_variable(strategy, synchronization=ON_READ, aggregation=MEAN)
    each_writes(strategy, variable, "assign")
    assert variable.assign_add(2.0).numpy() == 3.5
    assert components(variable) == [3, 4]
    total = make_variable(strategy, synchronization=ON_READ, aggregation=SUM)
    for verb in ("assign_add", "assign_sub"):
        with pytest.raises(ValueError, match=f"does not support `{verb}` in cross-replica"):
            getattr(total, verb)(2.0)
    assert components(total) == [10, 10]


def test_an_integer_sum_keeps_its_remainder(strategy):
    variable = make_variable(strategy, 0, synchronization=ON_READ, aggregation=SUM)
    variable.assign(7)
    assert components(variable) == [4, 3]
    assert variable.numpy() == 7


def test_values_that_do_not_fit():
    variable = tf.Variable(1.0, name="w")
    with pytest.raises(ValueError, match=r"'w:0': Shape mismatch"):
        variable.assign([1.0, 2.0])
    with pytest.raises(ValueError, match="requested dtype float32"):
        variable.assign(np.int32(1))
    assert variable.numpy() == 1.0
    assert variable.assign(2).numpy() == 2.0, "a Python number takes the variable's type"


def test_a_value_for_each_replica_is_assigned_where_there_is_room(strategy):
    each = strategy.experimental_distribute_values_from_function(
        lambda context: float(context.replica_id_in_sync_group)
    )
    own = make_variable(strategy, synchronization=ON_READ, aggregation=SUM)
    own.assign(each)
    assert components(own) == [0, 1]
    with pytest.raises(ValueError, match=r"Combine them first.*strategy\.reduce"):
        make_variable(strategy).assign(each)
    alone = tf.distribute.OneDeviceStrategy("cpu:0")
    variable = make_variable(alone)
    variable.assign(alone.run(lambda: 3.0))
    assert variable.numpy() == 3


def test_numbers_are_not_cut_off():
    with pytest.raises(TypeError, match=r"Cannot convert 2.7 to int32"):
        tf.Variable(1).assign(2.7)
    with pytest.raises(TypeError, match=r"Cannot convert 1.7 to int32"):
        tf.Variable(1.7, dtype=tf.int32)


def test_the_first_replica_assigns_a_boolean(strategy):
    flag = make_variable(strategy, False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
    strategy.run(lambda: flag.assign(True))
    assert bool(flag.numpy()) is True


@pytest.mark.parametrize("way", [lambda v: v.assign([1.0]), lambda v: v[0].assign(1.0)])
def test_replicas_of_central_storage_need_an_aggregation(way):
    strategy = tf.distribute.experimental.CentralStorageStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        plain = tf.Variable([5.0], name="plain")
        mean = tf.Variable([5.0], aggregation=tf.VariableAggregation.MEAN)
    with pytest.raises(ValueError, match=r"plain:0 has none\. Make it with aggregation="):
        strategy.run(lambda: way(plain))
    strategy.run(lambda: way(mean))
    assert (plain.numpy(), mean.numpy()) == (5.0, 1.0)
    assert plain.assign([7.0]).numpy() == 7.0
    alone = tf.distribute.experimental.CentralStorageStrategy(["cpu:0"])
    with alone.scope():
        single = tf.Variable([5.0])
    alone.run(lambda: way(single))
    assert single.numpy() == 1.0


def test_in_a_model_function_nothing_is_assigned_until_the_result_is_fetched():
    variable, other = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
    with Graph().as_default() as graph:
        added = variable.assign_add([10.0, 10.0])
        copied = other.assign(added)
        with tf.control_dependencies([copied]):
            doubled = variable.assign_add([1.0, 1.0])
        np.testing.assert_array_equal(added, [11, 12])
        np.testing.assert_array_equal(variable, [1, 2])
        assert len({operation.name for operation in map(graph.operation_of, (added, doubled))}) == 2
        graph.run(doubled)
        np.testing.assert_array_equal(variable, [12, 13])  # after what it depends on, each once
        np.testing.assert_array_equal(other, [11, 12])


def test_a_replica_combines_what_its_model_function_assigns(strategy):
    variable = make_variable(strategy, 1.0, aggregation=tf.VariableAggregation.SUM)

    def replica():
        with Graph().as_default() as graph:
            result = variable.assign(2.0)
        graph.run(result)
        return result

    assert [float(one) for one in strategy.run(replica).values] == [4, 4]
    assert variable.numpy() == 4
