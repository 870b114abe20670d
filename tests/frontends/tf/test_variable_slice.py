"""`v[1:3].assign(...)`: a part of a variable is assigned."""

import gc

import numpy as np
import pytest

from frontends import tf
from frontends.tf.variable_slice import _SLICES


def matrix(**options):
    return tf.Variable(np.arange(6.0, dtype=np.float32).reshape(3, 2), **options)


@pytest.mark.parametrize("compiled", [False, True])
def test_parts(compiled):
    variable = matrix()

    def change(row):
        variable[0].assign([10.0, 20.0])
        variable[1:3].assign_add(tf.ones([2, 2]))
        variable[..., 1].assign_sub(tf.constant([1.0, 1.0, 1.0]))
        variable[row, 0].assign(-5.0)

    (tf.function(change) if compiled else change)(tf.constant(2))
    assert variable.numpy().tolist() == [[10, 19], [3, 3], [-5, 5]]


def test_it_returns_the_variable():
    variable = matrix()
    assert variable[0].assign([7.0, 7.0]) is variable


def test_a_part_is_an_array_that_does_not_change():
    variable = matrix()
    part = variable[0]
    variable[0].assign([7.0, 7.0])
    assert isinstance(part, tf.Tensor)
    assert part.numpy().tolist() == [0, 1]
    part.assign([8.0, 8.0])
    assert variable[0].numpy().tolist() == [8, 8]


def test_other_arrays_have_no_assign():
    for array in (tf.ones(2), matrix()[0] + 0, matrix().value()):
        assert not hasattr(array, "assign")
    with pytest.raises(AttributeError, match=r"only a tf\.Variable .* x = x \+ 1"):
        tf.ones(2).assign([1.0, 1.0])

    def program(x):
        assert not hasattr(x, "assign")
        return x

    tf.function(program)(tf.ones(2))


def test_what_does_not_fit():
    counts = tf.Variable([1, 2, 3])
    with pytest.raises(TypeError, match="Round it first"):
        counts[0].assign(1.5)
    with pytest.raises(
        ValueError, match=r"part of variable .* shape \(2,\), and the value shape \(3,\)"
    ):
        counts[:2].assign([1, 2, 3])


def test_the_table_keeps_nothing_alive():
    gc.collect()
    before = len(_SLICES)
    variable = matrix()
    part = variable[0]
    assert len(_SLICES) == before + 1
    del variable
    gc.collect()
    assert not hasattr(part, "assign")
    del part
    gc.collect()
    assert len(_SLICES) == before


@pytest.mark.parametrize(
    ("aggregation", "first"), [("MEAN", 0.5), ("SUM", 1), ("ONLY_FIRST_REPLICA", 0)]
)
def test_replicas_assign_by_the_aggregation(aggregation, first):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        variable = tf.Variable([7.0, 8.0, 9.0], aggregation=tf.VariableAggregation[aggregation])

    def replica():
        index = tf.distribute.get_replica_context().replica_id_in_sync_group
        variable[0].assign(tf.cast(index, tf.float32))

    strategy.run(replica)
    assert variable.numpy().tolist() == [first, 8, 9]
    with strategy.scope():
        variable[1:].assign([1.0, 2.0])
    assert variable.numpy().tolist() == [first, 1, 2]


def test_a_value_of_each_replica():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        variable = tf.Variable(
            [1.0, 2.0],
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )

    def replica():
        index = tf.distribute.get_replica_context().replica_id_in_sync_group
        variable[1].assign(tf.cast(index, tf.float32) + 1)

    strategy.run(replica)
    assert [value.numpy().tolist() for value in variable.values] == [[1, 1], [1, 2]]
    with pytest.raises(NotImplementedError, match="Assign the whole value"):
        variable[1].assign(5.0)
