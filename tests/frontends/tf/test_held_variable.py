"""Reading a `tf.Variable`, in replicas and between them."""

import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from frontends import tf
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


@pytest.mark.parametrize(("aggregation", "read"), [(SUM, 23), (MEAN, 11.5), (FIRST, 11)])
def test_on_read_keeps_a_value_for_each_replica(strategy, aggregation, read):
    variable = make_variable(strategy, synchronization=ON_READ, aggregation=aggregation)
    assert not variable.trainable
    assert each_writes(strategy, variable, "assign_add") == [11, 12]
    assert components(variable) == [11, 12]
    assert variable.numpy() == read
    assert float(variable + 1) == read + 1
    assert [float(v) for v in strategy.run(lambda: variable * 1).values] == [11, 12]


def test_on_read_without_aggregation_cannot_be_read_between_replicas(strategy):
    variable = make_variable(strategy, synchronization=ON_READ)
    assert each_writes(strategy, variable, "assign_sub") == [9, 8]
    for read in (variable.numpy, variable.value, lambda: variable + 1):
        with pytest.raises(ValueError, match="Could not convert from"):
            read()


def test_on_read_is_combined_inside_a_compiled_function_too(strategy):
    variable = make_variable(strategy, [0.0, 0.0], synchronization=ON_READ, aggregation=SUM)

    @tf.function
    def step(scale):
        def replica():
            index = tf.distribute.get_replica_context().replica_id_in_sync_group
            variable.assign_add(jnp.stack([scale * (index + 1), scale]))

        strategy.run(replica)
        return variable.value()

    for turn, expected in enumerate([[3, 2], [9, 6]]):
        np.testing.assert_allclose(step(jnp.float32(turn + 1)), expected)
    assert components(variable) == [[3, 3], [6, 3]]
    assert step.experimental_get_tracing_count() == 1


def test_a_compiled_function_that_only_reads_finds_the_replicas(strategy):
    variable = make_variable(strategy, synchronization=ON_READ, aggregation=SUM)
    each_writes(strategy, variable, "assign")
    for read, expected in [
        (lambda: strategy.reduce("MEAN", variable, axis=None), 1.5),
        (lambda: variable.read_value(), 3),
        (lambda: variable, 3),
        (lambda: variable * 2, 6),
        (lambda: strategy.experimental_local_results(variable)[1], 2),
    ]:
        compiled = tf.function(read)
        assert [float(compiled()) for _ in range(2)] == [expected] * 2
        assert compiled.experimental_get_tracing_count() == 1


def test_a_variable_of_another_number_of_replicas_is_refused(strategy):
    variable = make_variable(strategy, name="total", synchronization=ON_READ, aggregation=SUM)
    other = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1", "cpu:2"])
    with pytest.raises(
        spmd.errors.StateError, match=r"total:0 has a value for each of 2 .*runs on 3"
    ):
        other.run(lambda: variable.assign(1.0))


def test_reduce_takes_variables_that_have_a_value_on_each_replica(strategy):
    own = make_variable(strategy, synchronization=ON_READ, aggregation=SUM)
    each_writes(strategy, own, "assign")
    assert float(strategy.reduce("SUM", own, axis=None)) == 3
    assert float(strategy.reduce("MEAN", own, axis=None)) == 1.5
    mirrored = make_variable(strategy, [1.0, 2.0])
    assert float(strategy.reduce("MEAN", mirrored, axis=0)) == 1.5


def test_on_read_means_the_same_with_one_replica():
    alone = tf.distribute.MirroredStrategy(["cpu:0"])
    with pytest.raises(ValueError, match="no aggregation says how"):
        make_variable(alone, synchronization=ON_READ).read_value()
    with pytest.raises(ValueError, match="does not support `assign_add`"):
        make_variable(alone, synchronization=ON_READ, aggregation=SUM).assign_add(1.0)


def test_central_storage_combines_at_once():
    central = tf.distribute.experimental.CentralStorageStrategy(["cpu:0", "cpu:1"])
    variable = make_variable(central, synchronization=ON_READ, aggregation=SUM)
    assert each_writes(central, variable, "assign_add") == [13, 13]
    assert components(variable) == [13]


def test_numpy_of_a_traced_variable(strategy):
    variable = make_variable(strategy)
    with pytest.raises(NotImplementedError, match="while a step is traced"):
        strategy.run(lambda: variable.numpy())


def test_only_variables_of_several_replicas_or_components_know_their_strategy():
    for strategy in (
        tf.distribute.MirroredStrategy(["cpu:0"]),
        tf.distribute.experimental.CentralStorageStrategy(["cpu:0", "cpu:1"]),
    ):
        with strategy.scope():
            assert tf.Variable(1.0).distribute_strategy is strategy
    assert not hasattr(tf.Variable(1.0), "distribute_strategy")
    with tf.distribute.OneDeviceStrategy("cpu:0").scope():
        assert not hasattr(tf.Variable(1.0), "distribute_strategy")
