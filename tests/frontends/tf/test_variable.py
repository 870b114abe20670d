"""`tf.Variable` as TensorFlow 2.21 has it: what replicas and the code between them read and write."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.variables import (
    ON_READ,
    SUM,
    each_writes,
    make_variable,
)


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


def test_a_variable_made_outside_of_the_scope_is_adopted(strategy):
    variable = tf.Variable(7.0)
    index = tf.distribute.get_replica_context
    read = strategy.run(lambda: variable + tf.cast(index().replica_id_in_sync_group, tf.float32))
    assert [float(value) for value in read.values] == [7, 8]
    strategy.run(lambda: variable.assign_add(2.0))
    assert variable.numpy() == 9.0


def test_a_function_may_make_its_variable_at_the_first_call(strategy):
    class Model:
        weight = None

        def __call__(self, x):
            if self.weight is None:
                self.weight = tf.Variable(lambda: tf.ones([2]), name="weight")
            self.weight.assign_add(tf.ones([2]))
            return x * self.weight

    model = Model()
    for turn in range(2, 5):
        (first, _) = strategy.run(model, args=(2.0,)).values
        np.testing.assert_allclose(first, [2.0 * turn] * 2)
    np.testing.assert_allclose(model.weight, [4.0, 4.0])


def test_a_replica_may_make_a_variable_of_which_each_has_a_value(strategy):
    held = []

    def replica():
        if not held:
            held.append(
                tf.Variable(lambda: tf.zeros([3]), synchronization=ON_READ, aggregation=SUM)
            )
        index = tf.distribute.get_replica_context().replica_id_in_sync_group
        return held[0].assign_add(tf.fill([3], tf.cast(index + 1, tf.float32)))

    for turn in (1, 2):
        (first, second) = strategy.run(replica).values
        assert [float(first[0]), float(second[0])] == [turn, 2 * turn]
        assert held[0].numpy().tolist() == [3 * turn] * 3


def test_a_variable_made_at_every_call_starts_anew(strategy):
    def replica():
        variable = tf.Variable(5.0)
        return variable.assign_add(1.0)

    for _ in range(2):
        assert [float(value) for value in strategy.run(replica).values] == [6, 6]


def test_a_variable_cannot_start_from_what_a_step_computes(strategy):
    with pytest.raises(ValueError, match="outlives the step"):
        strategy.run(lambda x: tf.Variable(x) + 1, args=(jnp.float32(1),))


def test_initial_values_and_types():
    assert tf.Variable(1).dtype == tf.int32
    assert tf.Variable(1.5).dtype == tf.float32
    assert tf.Variable(np.float16([1])).dtype == tf.float16
    assert tf.Variable(lambda: [1.0, 2.0]).shape == (2,)
    assert tf.Variable(1, dtype=tf.float32).dtype == tf.float32
    assert tf.Variable(tf.Variable(2.0)).numpy() == 2.0
    source = np.zeros(2, np.float32)
    variable = tf.Variable(source)
    source += 1
    assert variable.numpy().tolist() == [0, 0]
    with pytest.raises(ValueError, match="needs an initial value"):
        tf.Variable()
    with pytest.raises(ValueError, match="not compatible with the explicitly"):
        tf.Variable([1.0], shape=(2,))


def test_a_declared_shape():
    anything = tf.Variable([1.0], shape=tf.TensorShape(None))
    assert anything.shape.rank is None
    assert anything.assign([[1.0, 2.0]]).numpy().tolist() == [[1, 2]]
    assert "shape=<unknown>" in repr(anything)
    rows = tf.Variable([[1.0, 2.0]], shape=[None, 2])
    assert rows.shape == rows.get_shape() == (None, 2)
    total = tf.function(lambda: tf.reduce_sum(rows) * rows.value().shape[0])
    assert total() == 3
    rows.assign(tf.concat([rows, [[3.0, 4.0]]], 0))
    assert total() == 20
    with pytest.raises(ValueError, match=r"variable shape \(None, 2\), and .* \(1, 3\)"):
        rows.assign([[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match=r"\(2,\)\) is not compatible with .*\(None, 3\)"):
        tf.Variable([1.0, 2.0], shape=[None, 3])


def test_attributes_of_shape_and_dtype():
    variable = tf.Variable([[1.0, 2.0]])
    assert variable.shape.as_list() == [1, 2]
    assert variable.shape.num_elements() == 2
    assert variable.dtype.is_floating
    assert repr(variable.dtype) == "tf.float32"
    assert np.prod(variable.get_shape().as_list()) == 2


def test_it_computes_like_its_value():
    v = tf.Variable([1.0, 4.0])
    w = tf.Variable([2.0, 2.0])
    cases = {
        "arithmetic": (v + w, 1 - v, v * 2, v / w, v**2, -v, v @ w, 2 // v, abs(-v), v % 3),
        "expected": (
            [3, 6],
            [0, -3],
            [2, 8],
            [0.5, 2],
            [1, 16],
            [-1, -4],
            10,
            [2, 0],
            [1, 4],
            [1, 1],
        ),
    }
    for found, expected in zip(*cases.values(), strict=True):
        np.testing.assert_allclose(found, expected)
    assert (v > w).tolist() == [False, True]
    assert (v == w).tolist() == [False, False]
    assert jnp.sum(v.value()) == 5
    assert v[1] == 4
    assert [float(x) for x in v] == [1, 4]
    assert len(v) == 2
    count = tf.Variable(3)
    assert list(range(count)) == [0, 1, 2]
    assert f"{tf.Variable(0.5):.2f}" == "0.50"
    assert bool(count)
    assert int(count) == 3


def test_it_is_known_by_reference():
    v = tf.Variable(1.0)
    with pytest.raises(TypeError, match="unhashable"):
        hash(v)
    assert {v.ref(): 1}[v.ref()] == 1
    assert v.ref().deref() is v
    assert v.ref() != tf.Variable(1.0).ref()


def test_it_shows_its_value(strategy):
    assert repr(tf.Variable(1.0)) == "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=1.0>"
    shown = repr(make_variable(strategy, name="total", synchronization=ON_READ, aggregation=SUM))
    assert shown == (
        "SyncOnReadVariable:{\n"
        "  0: <tf.Variable 'total:0' shape=() dtype=float32, numpy=10.0>,\n"
        "  1: <tf.Variable 'total/replica_1:0' shape=() dtype=float32, numpy=10.0>\n"
        "}"
    )
    assert str(make_variable(strategy, [1.0], name="w")) == (
        "MirroredVariable:{\n"
        "  0: <tf.Variable 'w:0' shape=(1,) dtype=float32, numpy=array([1.], dtype=float32)>,\n"
        "  1: <tf.Variable 'w/replica_1:0' shape=(1,) dtype=float32, numpy=array([1.], dtype=float32)>\n"
        "}"
    )


def test_it_has_tensorflows_names_and_knows_its_strategy(strategy):
    variable = make_variable(strategy, name="total")
    assert variable.name == "total:0"
    assert variable.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert variable.distribute_strategy is strategy
    assert strategy.extended.variable_created_in_scope(variable)
    assert not strategy.extended.variable_created_in_scope(tf.Variable(1.0))
    assert isinstance(variable, tf.distribute.DistributedValues)


def test_a_step_may_return_variables(strategy):
    variable = make_variable(strategy)
    own = make_variable(strategy, synchronization=ON_READ, aggregation=SUM)
    each_writes(strategy, own, "assign")
    one, total = strategy.run(lambda: (variable, own))
    assert [float(value) for value in one.values] == [10, 10]
    # As between the replicas: TensorFlow returns the variable itself.
    assert [float(value) for value in total.values] == [3, 3]


def test_tapes_know_variables(strategy):
    w, frozen = make_variable(strategy, 3.0), make_variable(strategy, 2.0, trainable=False)

    def replica():
        index = tf.distribute.get_replica_context().replica_id_in_sync_group
        with tf.GradientTape() as tape:
            loss = w * w * tf.cast(index + 1, tf.float32) * frozen
        gradients = tape.gradient(loss, [w, frozen])
        assert gradients[1] is None
        return gradients[0]

    assert [float(g) for g in strategy.run(replica).values] == [12, 24]


def test_a_compiled_function_is_differentiated_by_an_outer_tape():
    w = tf.Variable(3.0)

    @tf.function
    def cube(x):
        return x * w**2

    with tf.GradientTape() as tape:
        y = cube(jnp.float32(2.0))
    assert float(tape.gradient(y, w)) == 12.0
