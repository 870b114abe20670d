"""The components that `variable.values` lists."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.variable_component import component_names
from tests.frontends.tf.distribute.replicas import mirrored


def test_a_component_is_a_named_array():
    strategy = mirrored()
    with strategy.scope():
        variable = tf.Variable([1.0, 2.0], name="w")
    first, second = variable.values
    assert (first.name, second.name) == ("w:0", "w/replica_1:0")
    assert first.shape.as_list() == [2]
    assert first.dtype == tf.float32
    assert (first.numpy().tolist(), first.tolist(), list(map(float, second))) == (
        [1, 2],
        [1, 2],
        [1, 2],
    )
    assert (
        len(first),
        float(first[1]),
        float(tf.reduce_sum(first)),
        (first + second).tolist(),
    ) == (
        2,
        2,
        3,
        [2, 4],
    )
    np.testing.assert_array_equal(first, second.read_value())
    assert repr(second).startswith(
        "<tf.Variable 'w/replica_1:0' shape=(2,) dtype=float32, numpy=array([1."
    )
    with pytest.raises(AttributeError):
        _ = first.assign
    # A component keeps its value; the variable goes on.
    variable.assign([5.0, 6.0])
    assert first.tolist() == [1.0, 2.0]


def test_each_replica_has_its_own_component_of_an_on_read_variable():
    strategy = mirrored()
    with strategy.scope():
        own = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
            name="own",
        )
    context = tf.distribute.get_replica_context
    strategy.run(lambda: own.assign(tf.cast(context().replica_id_in_sync_group, tf.float32) + 1.0))
    assert [(one.name, float(one)) for one in own.values] == [
        ("own:0", 1.0),
        ("own/replica_1:0", 2.0),
    ]


def test_component_names():
    assert component_names("a", 1) == ["a"]
    assert component_names("layer/a:0", 3)[2] == "layer/a/replica_2:0"
