"""Variables that are divided among parameter servers, and views of their parts."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.distribute.variable_parts import parts_of
from tests.frontends.tf.distribute.coordinator import clusters


@pytest.fixture(scope="module")
def strategy():
    partitioner = tf.distribute.experimental.partitioners.FixedShardsPartitioner(2)
    return clusters.strategy(1, 2, variable_partitioner=partitioner)


@pytest.fixture
def table(strategy):
    with strategy.scope():
        return tf.Variable(np.arange(10.0, dtype=np.float32).reshape(5, 2), name="table")


def test_parts_are_views_with_the_names_of_their_servers(table):
    first, second = table.variables
    assert (first.name, second.name) == ("table/part_0:0", "table/part_1:0")
    assert {first.device, second.device} == {
        f"/job:ps/replica:0/task:{index}/device:CPU:0" for index in range(2)
    }
    assert first.shape.as_list() == [3, 2]
    assert second.dtype == tf.float32
    assert first.trainable
    assert len(second) == 2
    assert np.asarray(second).tolist() == second.numpy().tolist() == [[6, 7], [8, 9]]
    assert float(tf.reduce_sum(second)) == 30
    assert second[1, 0] == 8
    assert "table/part_1:0" in repr(second)


def test_a_part_is_assigned_alone(table):
    table.variables[1].assign([[-1.0, -2.0], [-3.0, -4.0]])
    assert table.numpy().tolist() == [[0, 1], [2, 3], [4, 5], [-1, -2], [-3, -4]]


def test_a_variable_of_one_part_has_none(strategy):
    with strategy.scope():
        scalar = tf.Variable(1.0)
    outside = tf.Variable([1.0, 2.0])
    assert parts_of(scalar) == parts_of(outside) == []
    assert not hasattr(scalar, "variables")
    assert not hasattr(outside, "variables")


@pytest.mark.parametrize("make", [lambda: tf.keras.optimizers.SGD(0.5, momentum=0.9)])
def test_a_tape_and_an_optimizer_take_parts_as_they_take_the_variable(strategy, table, make):
    with strategy.scope():
        other = tf.Variable(table.value(), name="other")
        optimizers = make(), make()
    for variables, optimizer in ((table.variables, optimizers[0]), ([other], optimizers[1])):
        whole = table if variables[0] is not other else other
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(whole, [0, 3, 3])))
            gradients = tape.gradient(loss, variables)
            assert [one.shape for one in gradients] == [one.shape for one in variables]
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
    np.testing.assert_allclose(table.numpy(), other.numpy(), rtol=1e-6)
    assert table.numpy()[0].tolist() != [0, 1]


def test_an_optimizer_needs_all_parts(strategy, table):
    with strategy.scope():
        optimizer = tf.keras.optimizers.SGD(0.5)
    with pytest.raises(ValueError, match="Pass all of them"):
        optimizer.apply_gradients([(tf.ones((3, 2)), table.variables[0])])
