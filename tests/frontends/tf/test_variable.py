"""`tf.Variable` as TensorFlow 2.21 has it: what replicas and the code between them read and write."""

import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from frontends import tf

SUM, MEAN = tf.VariableAggregation.SUM, tf.VariableAggregation.MEAN
NONE, FIRST = tf.VariableAggregation.NONE, tf.VariableAggregation.ONLY_FIRST_REPLICA
ON_READ = tf.VariableSynchronization.ON_READ


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


def _variable(strategy, initial=10.0, **modes):
    with strategy.scope():
        return tf.Variable(initial, **modes)


def _each_writes(strategy, variable, verb):
    """Every replica writes its index and one."""

    def replica():
        index = tf.distribute.get_replica_context().replica_id_in_sync_group
        return getattr(variable, verb)(tf.cast(index + 1, variable.dtype))

    return [float(value) for value in strategy.run(replica).values]


def _components(variable):
    return [np.asarray(value).tolist() for value in variable.values]


# As recorded from TensorFlow: assign, assign_add, assign_sub of 1 and 2, from 10.
@pytest.mark.parametrize(
    ("aggregation", "results"), [(SUM, (3, 13, 7)), (MEAN, (1.5, 11.5, 8.5)), (FIRST, (1, 11, 9))]
)
def test_what_replicas_write_is_combined(strategy, aggregation, results):
    for verb, expected in zip(("assign", "assign_add", "assign_sub"), results, strict=True):
        variable = _variable(strategy, aggregation=aggregation)
        assert _each_writes(strategy, variable, verb) == [expected, expected]
        assert variable.numpy() == expected
        assert _components(variable) == [expected, expected]


def test_without_an_aggregation_replicas_may_not_drift(strategy):
    variable = _variable(strategy, name="drifting")
    with pytest.raises(spmd.ReplicaDivergenceError, match="drifting"):
        _each_writes(strategy, variable, "assign")
    assert variable.numpy() == 10.0
    strategy.run(lambda: variable.assign(3.0))
    assert variable.numpy() == 3.0


@pytest.mark.parametrize(("aggregation", "read"), [(SUM, 23), (MEAN, 11.5), (FIRST, 11)])
def test_on_read_keeps_a_value_for_each_replica(strategy, aggregation, read):
    variable = _variable(strategy, synchronization=ON_READ, aggregation=aggregation)
    assert not variable.trainable
    assert _each_writes(strategy, variable, "assign_add") == [11, 12]
    assert _components(variable) == [11, 12]
    assert variable.numpy() == read
    assert float(variable + 1) == read + 1
    assert [float(v) for v in strategy.run(lambda: variable * 1).values] == [11, 12]


def test_on_read_without_aggregation_cannot_be_read_between_replicas(strategy):
    variable = _variable(strategy, synchronization=ON_READ)
    assert _each_writes(strategy, variable, "assign_sub") == [9, 8]
    for read in (variable.numpy, variable.value, lambda: variable + 1):
        with pytest.raises(ValueError, match="Could not convert from"):
            read()


@pytest.mark.parametrize(("aggregation", "each", "mean"), [(SUM, 4, 4), (MEAN, 8, 8)])
def test_reducing_what_was_assigned_between_the_replicas(strategy, aggregation, each, mean):
    variable = _variable(strategy, synchronization=ON_READ, aggregation=aggregation)
    variable.assign(8.0)
    assert float(strategy.reduce("MEAN", variable, axis=None)) == mean
    assert [float(value) for value in strategy.experimental_local_results(variable)] == [each] * 2


def test_assigning_between_the_replicas(strategy):
    for aggregation, expected in ((SUM, [4, 4]), (MEAN, [8, 8]), (FIRST, [8, 8])):
        variable = _variable(strategy, synchronization=ON_READ, aggregation=aggregation)
        variable.assign(8.0)
        assert _components(variable) == expected
        assert variable.numpy() == 8
    variable = _variable(strategy, synchronization=ON_READ, aggregation=MEAN)
    _each_writes(strategy, variable, "assign")
    assert variable.assign_add(2.0).numpy() == 3.5
    assert _components(variable) == [3, 4]
    total = _variable(strategy, synchronization=ON_READ, aggregation=SUM)
    for verb in ("assign_add", "assign_sub"):
        with pytest.raises(ValueError, match=f"does not support `{verb}` in cross-replica"):
            getattr(total, verb)(2.0)
    assert _components(total) == [10, 10]


def test_an_integer_sum_keeps_its_remainder(strategy):
    variable = _variable(strategy, 0, synchronization=ON_READ, aggregation=SUM)
    variable.assign(7)
    assert _components(variable) == [4, 3]
    assert variable.numpy() == 7


def test_on_read_is_combined_inside_a_compiled_function_too(strategy):
    variable = _variable(strategy, [0.0, 0.0], synchronization=ON_READ, aggregation=SUM)

    @tf.function
    def step(scale):
        def replica():
            index = tf.distribute.get_replica_context().replica_id_in_sync_group
            variable.assign_add(jnp.stack([scale * (index + 1), scale]))

        strategy.run(replica)
        return variable.value()

    for turn, expected in enumerate([[3, 2], [9, 6]]):
        np.testing.assert_allclose(step(jnp.float32(turn + 1)), expected)
    assert _components(variable) == [[3, 3], [6, 3]]
    assert step.experimental_get_tracing_count() == 1


def test_a_compiled_function_that_only_reads_finds_the_replicas(strategy):
    variable = _variable(strategy, synchronization=ON_READ, aggregation=SUM)
    _each_writes(strategy, variable, "assign")
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
    variable = _variable(strategy, name="total", synchronization=ON_READ, aggregation=SUM)
    other = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1", "cpu:2"])
    with pytest.raises(spmd.StateError, match=r"total:0 has a value for each of 2 .*runs on 3"):
        other.run(lambda: variable.assign(1.0))


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


def test_modes_that_do_not_exist(strategy):
    with pytest.raises(ValueError, match="Invalid variable synchronization mode: foo"):
        tf.Variable(1.0, synchronization="foo")
    with pytest.raises(ValueError, match="Invalid variable aggregation mode: foo"):
        tf.Variable(1.0, aggregation="foo")
    with pytest.raises(ValueError, match="`NONE` variable synchronization mode"):
        _variable(strategy, synchronization=tf.VariableSynchronization.NONE)
    with pytest.raises(ValueError, match="non-floating dtype is not supported"):
        _variable(strategy, 1, aggregation=MEAN)


def test_values_that_do_not_fit():
    variable = tf.Variable(1.0, name="w")
    with pytest.raises(ValueError, match=r"'w:0': Shape mismatch"):
        variable.assign([1.0, 2.0])
    with pytest.raises(ValueError, match="requested dtype float32"):
        variable.assign(np.int32(1))
    assert variable.numpy() == 1.0
    assert variable.assign(2).numpy() == 2.0, "a Python number takes the variable's type"


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
    shown = repr(_variable(strategy, name="total", synchronization=ON_READ, aggregation=SUM))
    assert shown == (
        "SyncOnReadVariable:{\n"
        "  0: <tf.Variable 'total:0' shape=() dtype=float32, numpy=10.0>,\n"
        "  1: <tf.Variable 'total/replica_1:0' shape=() dtype=float32, numpy=10.0>\n"
        "}"
    )


def test_it_has_tensorflows_names_and_knows_its_strategy(strategy):
    variable = _variable(strategy, name="total")
    assert variable.name == "total:0"
    assert variable.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert variable.distribute_strategy is strategy
    assert strategy.extended.variable_created_in_scope(variable)
    assert not strategy.extended.variable_created_in_scope(tf.Variable(1.0))
    assert isinstance(variable, tf.distribute.DistributedValues)


def test_a_step_may_return_variables(strategy):
    variable = _variable(strategy)
    own = _variable(strategy, synchronization=ON_READ, aggregation=SUM)
    _each_writes(strategy, own, "assign")
    one, total = strategy.run(lambda: (variable, own))
    assert [float(value) for value in one.values] == [10, 10]
    # As between the replicas: TensorFlow returns the variable itself.
    assert [float(value) for value in total.values] == [3, 3]


def test_reduce_takes_variables_that_have_a_value_on_each_replica(strategy):
    own = _variable(strategy, synchronization=ON_READ, aggregation=SUM)
    _each_writes(strategy, own, "assign")
    assert float(strategy.reduce("SUM", own, axis=None)) == 3
    assert float(strategy.reduce("MEAN", own, axis=None)) == 1.5
    mirrored = _variable(strategy, [1.0, 2.0])
    assert float(strategy.reduce("MEAN", mirrored, axis=0)) == 1.5


def test_a_value_for_each_replica_is_assigned_where_there_is_room(strategy):
    each = strategy.experimental_distribute_values_from_function(
        lambda context: float(context.replica_id_in_sync_group)
    )
    own = _variable(strategy, synchronization=ON_READ, aggregation=SUM)
    own.assign(each)
    assert _components(own) == [0, 1]
    with pytest.raises(ValueError, match=r"Combine them first.*strategy\.reduce"):
        _variable(strategy).assign(each)
    alone = tf.distribute.OneDeviceStrategy("cpu:0")
    variable = _variable(alone)
    variable.assign(alone.run(lambda: 3.0))
    assert variable.numpy() == 3


def test_on_read_means_the_same_with_one_replica():
    alone = tf.distribute.MirroredStrategy(["cpu:0"])
    with pytest.raises(ValueError, match="no aggregation says how"):
        _variable(alone, synchronization=ON_READ).read_value()
    with pytest.raises(ValueError, match="does not support `assign_add`"):
        _variable(alone, synchronization=ON_READ, aggregation=SUM).assign_add(1.0)


def test_central_storage_combines_at_once():
    central = tf.distribute.experimental.CentralStorageStrategy(["cpu:0", "cpu:1"])
    variable = _variable(central, synchronization=ON_READ, aggregation=SUM)
    assert _each_writes(central, variable, "assign_add") == [13, 13]
    assert _components(variable) == [13]


def test_tapes_know_variables(strategy):
    w, frozen = _variable(strategy, 3.0), _variable(strategy, 2.0, trainable=False)

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


def test_numpy_of_a_traced_variable(strategy):
    variable = _variable(strategy)
    with pytest.raises(NotImplementedError, match="while a step is traced"):
        strategy.run(lambda: variable.numpy())


def test_numbers_are_not_cut_off():
    with pytest.raises(TypeError, match=r"Cannot convert 2.7 to int32"):
        tf.Variable(1).assign(2.7)
    with pytest.raises(TypeError, match=r"Cannot convert 1.7 to int32"):
        tf.Variable(1.7, dtype=tf.int32)


# Some rows. The numbers are TensorFlow's.


def _rows(values, indices):
    return tf.IndexedSlices(values=tf.constant(values), indices=tf.constant(indices))


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        ("add", -1),
        ("sub", 3),
        ("update", -7),
        ("max", 5),
        ("min", -7),
        ("mul", -35),
        ("div", -1 / 35),
    ],
)
def test_some_rows_are_written(strategy, verb, expected):
    for variable in (tf.Variable([1.0, 2.0]), _variable(strategy, [1.0, 2.0])):
        written = getattr(variable, f"scatter_{verb}")(_rows([5.0, -7.0], [0, 0]))
        np.testing.assert_allclose(written.numpy(), [expected, 2], rtol=1e-6)
        assert written is variable


@pytest.mark.parametrize(
    ("aggregation", "add", "mul", "update"),
    [(SUM, 6, 6, None), (MEAN, 3.5, 1.5, None), (FIRST, 3, 2, 2)],
)
def test_rows_that_replicas_write_are_combined(strategy, aggregation, add, mul, update):
    """The replicas write 2 and 3 to the first row, which is 1."""
    variable = _variable(strategy, [1.0, 2.0], aggregation=aggregation)

    def replica(verb):
        row = tf.distribute.get_replica_context().replica_id_in_sync_group + 2
        rows = tf.IndexedSlices(tf.cast(row, tf.float32)[None], tf.constant([0]))
        return getattr(variable, f"scatter_{verb}")(rows)

    for verb, expected in {"add": add, "mul": mul, "update": update}.items():
        variable.assign([1.0, 2.0])
        if expected is None:
            with pytest.raises(NotImplementedError, match="does not say which replica's rows"):
                strategy.run(replica, args=(verb,))
        else:
            strategy.run(replica, args=(verb,))
            assert variable.numpy().tolist() == [expected, 2]


def test_rows_without_an_aggregation_are_the_same_on_all_replicas(strategy):
    variable = _variable(strategy, [1.0, 2.0])
    strategy.run(lambda: variable.scatter_max(_rows([5.0], [1])))
    assert variable.numpy().tolist() == [1, 5]


def test_elements_are_written():
    variable = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    variable.scatter_nd_add([[0, 1], [1, 0]], [10.0, 20.0])
    assert variable.numpy().tolist() == [[1, 12], [23, 4]]
    variable.scatter_nd_update([[1]], [[5.0, 6.0]])
    variable.scatter_nd_sub([[0, 0]], [1.0])
    variable.scatter_nd_max([[0, 0], [1, 1]], [7.0, 1.0])
    variable.scatter_nd_min([[0, 1]], [3.0])
    assert variable.numpy().tolist() == [[7, 3], [5, 6]]
    assert variable.sparse_read([1, 0]).tolist() == [[5, 6], [7, 3]]
    assert variable.gather_nd([[1, 0], [0, 0]]).tolist() == [5, 7]


def test_rows_that_cannot_be_written(strategy):
    variable = tf.Variable([1.0, 2.0], name="v")
    with pytest.raises(TypeError, match=r"must be a `tf\.IndexedSlices`.*IndexedSlices\(values="):
        variable.scatter_add([1.0])
    for index in (2, -1):
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"v:0 has no element {index} "):
            variable.scatter_update(_rows([1.0], [index]))
        compiled = tf.function(lambda i: variable.scatter_add(tf.IndexedSlices([1.0], i)))
        assert compiled(tf.constant([index])).tolist() == [1, 2]
    with pytest.raises(ValueError, match="keeps its type"):
        variable.scatter_update(_rows([1], [0]))
    own = _variable(strategy, [1.0], synchronization=ON_READ, aggregation=SUM)
    with pytest.raises(NotImplementedError, match="ON_READ"):
        own.scatter_add(_rows([1.0], [0]))
    with pytest.raises(NotImplementedError, match="as in TensorFlow"):
        _variable(strategy, [1.0]).scatter_nd_add([[0]], [1.0])


def test_the_first_replica_assigns_a_boolean(strategy):
    flag = _variable(strategy, False, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
    strategy.run(lambda: flag.assign(True))
    assert bool(flag.numpy()) is True
