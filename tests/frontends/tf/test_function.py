"""tf.function: what is traced, how often, and that its programs compute what plain loops do."""

import copy
import functools
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx

import spmd
from frontends import tf


def replica_context() -> Any:  # never None where the tests ask for it
    return tf.distribute.get_replica_context()


def mirrored(count=2):
    return tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])


def distributed(strategy, total, size=4):
    data = np.arange(1.0, total + 1, dtype=np.float32)
    dataset = tf.data.Dataset.from_tensor_slices(data).batch(size)
    return list(strategy.experimental_distribute_dataset(dataset))


def one_for_each(strategy, scale=1.0):
    return strategy.experimental_distribute_values_from_function(
        lambda context: np.float32(scale * (context.replica_id_in_sync_group + 1))
    )


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_run_and_reduce_are_traced_once_for_full_and_partial_batches(replicas):
    strategy, outer, inner = mirrored(replicas), [], []

    @tf.function
    def total(batch):
        outer.append(1)

        def replica(x):
            inner.append(1)
            return x * 2

        return strategy.reduce("SUM", strategy.run(replica, args=(batch,)), axis=0)

    batches = distributed(strategy, 21)
    for _ in range(3):
        assert [float(total(batch)) for batch in batches] == [20.0, 52.0, 84.0, 116.0, 148.0, 42.0]
    assert total.experimental_get_tracing_count() == 1
    # A replica's function whose result has an entry for each row is called once more, with a row more; and all
    # of it when a partial batch comes, to see whether it counts the rows of a block; twice where a block has a
    # single row, for which JAX makes other operations.
    assert (len(outer), len(inner)) == ((3, 6) if replicas == 4 else (2, 4))


def test_other_shapes_and_types_are_other_programs():
    strategy = mirrored()

    @tf.function
    def double(x):
        return strategy.reduce("SUM", strategy.run(lambda x: x, args=(x,)), axis=None)

    for x in (jnp.ones(2), jnp.zeros(2), jnp.ones(3), jnp.ones(2, jnp.int32), jnp.ones(3)):
        result = double(x)
        assert result.dtype == x.dtype
        np.testing.assert_array_equal(result, 2 * x)
    assert double.experimental_get_tracing_count() == 3


def test_python_numbers_are_traced_once_more():
    """TensorFlow makes a graph for every number; here a learning rate may change each step."""
    strategy = mirrored()

    @tf.function
    def scaled(value, scale, offset=0.0):
        result = strategy.run(lambda v: v * scale + offset, args=(value,))
        return strategy.reduce("SUM", result, axis=None)

    value = one_for_each(strategy)
    assert [float(scaled(value, scale / 2)) for scale in range(6)] == [1.5 * s for s in range(6)]
    assert scaled.experimental_get_tracing_count() == 2
    assert [float(scaled(value, 1.0, offset=offset / 2)) for offset in range(4)] == [3, 4, 5, 6]
    assert scaled.experimental_get_tracing_count() == 3


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_number_for_each_step_compiles_twice(replicas):
    strategy = mirrored(replicas)
    total = tf.Variable(0.0)
    batches = distributed(strategy, 4)

    @tf.function
    def step(x, i):
        total.assign_add(tf.cast(i, tf.float32))
        return tf.reduce_sum(x) * i

    @tf.function
    def train(batch, i):
        return strategy.reduce("SUM", strategy.run(step, args=(batch, i)), axis=None)

    for i in range(1000):
        train(batches[0], i)
    assert float(total) == sum(range(1000))
    assert train.experimental_get_tracing_count() == 2


def test_an_axis_is_a_program_for_each_value_and_warns():
    strategy, traces = mirrored(), []

    def sums(x, axis):
        traces.append(axis)
        return tf.reduce_sum(x, axis=axis)

    x = jnp.arange(16.0).reshape(2, 2, 2, 2)
    compiled = tf.function(sums)
    needed = "changed from 2 to 3, a Python number that the step needs"
    for axis in range(3):
        np.testing.assert_array_equal(compiled(x, axis), x.sum(axis))
        np.testing.assert_array_equal(strategy.run(sums, (x, axis)).values[1], x.sum(axis))
    with pytest.warns(spmd.errors.RecompilationWarning, match=needed):
        np.testing.assert_array_equal(compiled(x, 3), x.sum(3))
    with pytest.warns(spmd.errors.RecompilationWarning, match=needed):
        np.testing.assert_array_equal(strategy.run(sums, (x, 3)).values[1], x.sum(3))
    assert compiled.experimental_get_tracing_count() == 4
    # Each tried once with a traced number, whose trace failed.
    assert len(traces) == 2 * (4 + 1)


def test_gradients_by_a_number():
    weight = tf.Variable(2.0)

    @tf.function
    def train(rate, power):
        with tf.GradientTape() as tape:
            loss = weight**power
        weight.assign_sub(rate * tape.gradient(loss, weight))
        return loss

    for rate, power in ((0.1, 2), (0.2, 2), (0.3, 3), (0.4, 1)):
        before = float(weight)
        assert float(train(rate, power)) == pytest.approx(before**power)
        assert float(weight) == pytest.approx(before - rate * power * before ** (power - 1))
    # (0.1, 2), then any rate with 2, then any rate and power.
    assert train.experimental_get_tracing_count() == 3


def test_reduce_retracing_traces_numbers_at_once():
    scaled = tf.function(lambda x, by: x * by, reduce_retracing=True)
    assert [float(scaled(jnp.float32(1), by)) for by in (1, 2, 3)] == [1, 2, 3]
    assert scaled.experimental_get_tracing_count() == 1
    summed = tf.function(lambda x, axis: tf.reduce_sum(x, axis), reduce_retracing=True)
    assert [summed(jnp.ones((2, 3)), axis).shape for axis in (0, 1)] == [(3,), (2,)]


def test_nested_functions_see_the_number():
    seen = []

    @tf.function
    def inner(x, shape):
        seen.append(shape)
        return tf.reshape(x, shape)

    @tf.function
    def outer(x, rows):
        return inner(x, [rows, -1])

    assert [outer(jnp.ones(12), rows).shape for rows in (2, 3, 4)] == [(2, 6), (3, 4), (4, 3)]
    assert seen[0] == [2, -1]


@pytest.mark.parametrize("call", [lambda f, x: f(x), lambda f, x: f(x, 2.0), lambda f, x: f(x=x)])
def test_forms_of_a_call_share_a_program(call):
    traces = []

    @tf.function
    def scale(x, by=2.0, *, name=None, training=False):
        traces.append(1)
        return x * by

    for other in (call, lambda f, x: f(by=2.0, x=x), lambda f, x: f(x, training=False, name=None)):
        assert float(other(scale, jnp.float32(3))) == 6
    assert len(traces) == scale.experimental_get_tracing_count() == 1
    assert float(scale(jnp.float32(3), training=True)) == 6
    assert len(traces) == 2


def test_partials_and_callable_objects():
    class Scale:
        def __init__(self, by):
            self.by = by

        def __call__(self, x, offset=0.0):
            return x * self.by + offset

    for function in (
        tf.function(functools.partial(Scale(2.0), offset=1.0)),
        tf.function(functools.partial(lambda by, x, offset: x * by + offset, 2.0, offset=1.0)),
    ):
        assert float(function(jnp.float32(3))) == float(function(x=jnp.float32(3))) == 7.0
        assert function.experimental_get_tracing_count() == 1
    scale = Scale(2.0)
    function = tf.function(scale)
    assert float(function(jnp.float32(3))) == 6.0
    scale.by = 3.0  # an attribute that the code reads
    assert float(function(jnp.float32(3), offset=1.0)) == 10.0


def test_a_batch_with_a_default_takes_the_short_way():
    strategy = mirrored()

    @tf.function
    def train(batch, scale=2.0, training=True):
        rows = strategy.run(lambda x: x * scale if training else x, args=(batch,))
        return strategy.reduce("SUM", rows, axis=0)

    (batch,) = distributed(strategy, 4)
    assert float(train(batch)) == 20.0
    (step,) = train._steps
    assert float(step.call_again((batch, 2.0, True))) == 20.0
    assert float(train(batch=batch)) == 20.0
    assert float(train(batch, training=False)) == 10.0
    assert train.experimental_get_tracing_count() == 2


def test_layers_metrics_and_optimizers_may_make_their_variables_at_any_call():
    """TensorFlow takes them at the first call only."""
    with mirrored().scope():
        layer = tf.keras.layers.Dense(1, kernel_initializer="ones")
        optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    metric = tf.keras.metrics.Mean()

    @tf.function
    def train(x, is_late):
        weights = layer.trainable_variables
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x))
        if weights:  # not in the trace that makes them
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        if is_late:
            tf.keras.layers.Dense(1)(x)
            metric.update_state(loss)
        return loss

    x = tf.ones([1, 2])
    np.testing.assert_allclose([float(train(x, False)), float(train(x, True))], [2, 1.7], rtol=1e-6)
    np.testing.assert_allclose(optimizer.variables[2], [[-0.19], [-0.19]], rtol=1e-6)
    np.testing.assert_allclose(metric.result(), 1.7, rtol=1e-6)


ONLY_ONCE = r"only supports singleton tf\.Variables created on the first call"


def test_a_variable_that_each_call_makes_is_refused():
    @tf.function
    def fresh(x):
        return tf.Variable(1.0) * x

    for _ in range(2):
        with pytest.raises(ValueError, match=ONLY_ONCE + ".*fresh made"):
            fresh(1.0)


def test_a_variable_of_the_first_call_is_kept():
    made = []

    @tf.function
    def count(x):
        if not made:
            made.append(tf.Variable(10.0))
        return made[0].assign_add(tf.reduce_sum(x))

    assert [float(count(x)) for x in (1.0, 2.0, jnp.ones(3))] == [11.0, 13.0, 16.0]
    assert float(made[0]) == 16.0


def test_a_variable_of_a_later_call_is_refused():
    made = {}

    @tf.function
    def by_rank(x):
        if x.ndim not in made:
            made[x.ndim] = tf.Variable(1.0)
        return x * made[x.ndim]

    assert float(by_rank(jnp.float32(2))) == 2.0
    with pytest.raises(ValueError, match=ONLY_ONCE):
        by_rank(jnp.ones(2))


def test_what_is_no_number_is_fixed_for_a_program():
    strategy = mirrored()

    @tf.function
    def choose(value, training, name="same"):
        factor = (10.0 if training else 1.0) * {"double": 2.0, "same": 1.0}[name]
        return strategy.reduce("SUM", strategy.run(lambda v: v * factor, args=(value,)), axis=None)

    value = one_for_each(strategy)
    for _ in range(2):
        assert float(choose(value, True)) == 30.0
        assert float(choose(value, False)) == 3.0
        assert float(choose(value, False, "double")) == 6.0
    assert choose.experimental_get_tracing_count() == 3


def test_none_is_fixed_for_a_program():
    strategy = mirrored()

    @tf.function
    def add(value, extra=None):
        result = strategy.run(lambda v, e: v if e is None else v + e, args=(value, extra))
        return strategy.reduce("SUM", result, axis=None)

    value = one_for_each(strategy)
    for _ in range(2):
        assert float(add(value, None)) == 3.0
        assert float(add(value, 5.0)) == 13.0
    assert add.experimental_get_tracing_count() == 2


def test_true_is_not_one():
    identity = tf.function(lambda x: (x, isinstance(x, bool)))
    for x in (True, 1, 1.0, True):
        value, fixed = identity(x)
        assert float(value) == 1
        assert bool(fixed) == isinstance(x, bool)
    assert identity.experimental_get_tracing_count() == 3


def test_changing_shapes_warn():
    strategy = mirrored()

    @tf.function
    def total(x):
        return strategy.run(lambda x: x.sum(), args=(x,))

    for size in range(1, 4):
        total(jnp.ones(size))
    with pytest.warns(
        spmd.errors.RecompilationWarning, match="The step 'total' was compiled 4 times"
    ):
        total(jnp.ones(4))


def test_it_computes_what_the_parts_do_outside():
    strategy = mirrored(4)

    def replica(x, scale):
        context = replica_context()
        total = context.all_reduce("SUM", tf.nn.compute_average_loss(x))
        return {"rows": x * scale, "total": total, "id": context.replica_id_in_sync_group}

    def program(batch, scale):
        result = strategy.run(replica, args=(batch,), kwargs={"scale": scale})
        return result, strategy.reduce("MEAN", result["rows"], axis=0)

    compiled = tf.function(program)
    for batch in distributed(strategy, 21, 8):
        (inside, mean), (outside, other_mean) = compiled(batch, 3.0), program(batch, 3.0)
        assert jax.tree.structure(inside) == jax.tree.structure(outside)
        for key, value in inside.items():
            for one, other in zip(value.values, outside[key].values, strict=True):
                np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(mean, other_mean, rtol=1e-6)


def test_nested_functions_are_one_program():
    strategy = mirrored()

    @tf.function
    def half(x):
        return x / 2

    @tf.function
    def replica(x):
        return half(x) + 1

    @tf.function
    def middle(x):
        return strategy.reduce("SUM", strategy.run(replica, args=(x,)), axis=None)

    @tf.function
    def outer(x):
        return half(middle(x)) + middle(x)

    assert float(outer(one_for_each(strategy))) == (3.5 / 2 + 3.5)
    assert outer.experimental_get_tracing_count() == 1
    assert [f.experimental_get_tracing_count() for f in (half, replica, middle)] == [0, 0, 0]
    assert float(middle(one_for_each(strategy))) == 3.5
    assert float(half(3.0)) == 1.5


def test_run_of_a_function():
    strategy = mirrored()
    replica = tf.function(lambda x: x + replica_context().num_replicas_in_sync)
    result = strategy.run(replica, args=(one_for_each(strategy),))
    assert [float(value) for value in result.values] == [3.0, 4.0]


def test_without_any_strategy():
    double = tf.function(lambda x, y=1.0: {"x": x * 2, "y": (y, None)})
    result = double(jnp.arange(3.0))
    assert result["x"].tolist() == [0.0, 2.0, 4.0]
    assert float(result["y"][0]) == 1.0
    assert result["y"][1] is None
    assert double.experimental_get_tracing_count() == 1


def test_strategy_out_of_scope_without_per_replica_arguments():
    strategy, traces = mirrored(), []

    @tf.function
    def total(x):
        traces.append(1)
        result = strategy.run(lambda: replica_context().replica_id_in_sync_group)
        return strategy.reduce("SUM", result, axis=None) + x

    assert [float(total(i)) for i in range(5)] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert total.experimental_get_tracing_count() == 2  # for 0, and for any number
    # The first may be a try for the default strategy's devices; what was learned is kept.
    assert len(traces) <= 3


def test_strategy_out_of_scope_with_state():
    """The first try, for other devices, must leave no trace in what it wrote."""
    strategy = mirrored()
    counter = spmd.Variable(jnp.float32(0))
    other = spmd.Variable(jnp.float32(10))

    @tf.function
    def count():
        other.value = other.value + 1

        def replica():
            counter.value = counter.value + 1
            return counter.value

        return strategy.reduce("MEAN", strategy.run(replica), axis=None)

    assert [float(count()) for _ in range(3)] == [1.0, 2.0, 3.0]
    assert float(counter.value) == 3.0
    assert float(other.value) == 13.0


def test_two_strategies_with_one_function():
    @tf.function
    def total(value):
        strategy = tf.distribute.get_strategy()
        return strategy.reduce("SUM", strategy.run(lambda v: v * 1.0, args=(value,)), axis=None)

    two, four = mirrored(2), mirrored(4)
    for _ in range(2):
        for strategy, expected in ((two, 3.0), (four, 10.0)):
            with strategy.scope():
                assert float(total(one_for_each(strategy))) == expected
                assert float(total(5.0)) == 5.0 * strategy.num_replicas_in_sync
    assert float(total(5.0)) == 5.0
    assert total.experimental_get_tracing_count() == 5


def test_strategies_over_the_same_devices_are_not_one():
    """What a function asks about the strategy is fixed in its program."""

    @tf.function
    def ask():
        strategy = tf.distribute.get_strategy()
        return (
            tf.distribute.has_strategy(),
            tf.distribute.in_cross_replica_context(),
            isinstance(strategy, tf.distribute.MirroredStrategy),
        )

    def answer():
        return tuple(bool(value) for value in ask())

    for _ in range(2):
        assert answer() == (False, False, False)
        with tf.distribute.OneDeviceStrategy("cpu:0").scope():
            assert answer() == (True, True, False)
        with mirrored(1).scope():
            assert answer() == (True, True, True)


def test_two_strategies_in_one_function():
    """TensorFlow runs it; here one program has one set of devices, and that must be said plainly."""
    two, four = mirrored(2), mirrored(4)

    @tf.function
    def both():
        first = two.reduce("SUM", two.run(lambda: 1.0), axis=None)
        return first + four.reduce("SUM", four.run(lambda: 1.0), axis=None)

    with pytest.raises(RuntimeError, match=r"devices|strateg"):
        both()
    with two.scope(), pytest.raises(RuntimeError, match=r"devices|strateg"):
        both()


def test_decorators():
    @tf.function
    def bare(x):
        """What it does."""
        return x + 1

    @tf.function()
    def called(x):
        return x + 1

    @tf.function(jit_compile=True, autograph=False, reduce_retracing=True, input_signature=None)
    def with_options(x):
        return x + 1

    for fn in (bare, called, with_options, tf.function(lambda x: x + 1), tf.function(func=bare)):
        assert float(fn(1.0)) == 2.0
        assert fn.experimental_get_tracing_count() == 1
    assert getattr(bare, "__name__", None) == "bare"
    assert bare.__doc__ == "What it does."
    assert "bare" in repr(bare)
    assert bare.python_function(1) == 2


def test_unknown_options_are_refused():
    misspelt: Any = {"jit_compiled": True}
    with pytest.raises(TypeError, match=r"no option 'jit_compiled'.*jit_compile"):
        tf.function(**misspelt)
    with pytest.raises(TypeError, match="no option 'jit_compiled'"):
        tf.function(lambda: 1, **misspelt)


@pytest.mark.parametrize("what", [5, "train", [1]])
def test_only_functions_are_compiled(what):
    with pytest.raises(TypeError, match="function"):
        tf.function(what)
    with pytest.raises(TypeError, match="function"):
        tf.function(jit_compile=True)(what)


def test_copies_of_a_function_compile_anew():
    original = tf.function(lambda x: x + 1)
    original(1.0)
    for other in (copy.copy(original), copy.deepcopy(original)):
        assert float(other(2.0)) == 3.0
        assert (
            other.experimental_get_tracing_count() == original.experimental_get_tracing_count() == 1
        )


@pytest.mark.parametrize("scope", [False, True])
def test_get_concrete_function(scope):
    strategy = mirrored()

    @tf.function
    def total(value):
        def replica(v):
            return replica_context().all_reduce("SUM", jnp.full((3,), v))

        return strategy.reduce("MEAN", strategy.run(replica, args=(value,)), axis=None)

    value = one_for_each(strategy)
    if scope:
        with strategy.scope():
            program = total.get_concrete_function(jnp.float32(1))
    else:
        program = total.get_concrete_function(value)
    assert isinstance(program.compile(), spmd.step.Compiled)
    assert "psum" in program.collectives[0].name
    assert program.collectives[0].bytes == 12
    assert "all-reduce" in program.hlo
    assert total.experimental_get_tracing_count() == 1
    if not scope:
        assert total(value).tolist() == [3.0, 3.0, 3.0]
        assert total.experimental_get_tracing_count() == 1


def test_get_concrete_function_out_of_scope():
    strategy = mirrored()
    total = tf.function(
        lambda: strategy.reduce("SUM", strategy.run(lambda: jnp.ones(5)), axis=None)
    )
    program = total.get_concrete_function()
    assert [collective.bytes for collective in program.collectives if collective.bytes >= 20]
    assert total().tolist() == [2.0] * 5


def test_results_that_are_no_arrays():
    with pytest.raises(TypeError, match="only arrays, numbers, texts, None"):
        tf.function(object)()
    assert tf.function(lambda: ("text", tf.constant(1)))()[0] == "text"


def test_errors_in_the_function_come_out_and_leave_nothing_behind():
    strategy, fail = mirrored(), [True]

    @tf.function
    def total(value):
        if fail[0]:
            raise KeyError("mine")
        return strategy.reduce("SUM", strategy.run(lambda v: v, args=(value,)), axis=None)

    value = one_for_each(strategy)
    with pytest.raises(KeyError, match="mine"):
        total(value)
    assert not tf.distribute.has_strategy()
    fail[0] = False
    assert float(total(value)) == 3.0


def test_values_of_other_devices_after_many_steps():
    """The short way of later calls must not take what the long way would refuse."""
    two, four = mirrored(2), mirrored(4)

    @tf.function
    def total(value):
        return two.reduce("SUM", two.run(lambda v: v, args=(value,)), axis=None)

    for _ in range(3):
        assert float(total(one_for_each(two))) == 3.0
    with pytest.raises((ValueError, RuntimeError)):
        total(one_for_each(four))
    assert float(total(one_for_each(two, 2.0))) == 6.0


def test_a_global_that_changes_is_seen():
    strategy, scale = mirrored(), 1.0

    @tf.function
    def scaled(value):
        return strategy.reduce("SUM", strategy.run(lambda v: v * scale, args=(value,)), axis=None)

    value = one_for_each(strategy)
    assert float(scaled(value)) == 3.0
    assert float(scaled(value)) == 3.0
    scale = 5.0
    assert float(scaled(value)) == 15.0


class Net(nnx.Module):
    """Two layers."""

    def __init__(self, rngs):
        self.first = nnx.Linear(3, 8, rngs=rngs)
        self.last = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        return self.last(nnx.tanh(self.first(x)))[:, 0]


def regression(rows):
    x = np.random.default_rng(0).normal(size=(rows, 3)).astype(np.float32)
    return x, (x @ np.array([1.0, -2.0, 0.5], np.float32) + 0.3).astype(np.float32)


def plain_loop(tx, x, y, size, epochs):
    """What a person without a strategy writes: one device, pure functions, true means."""
    graph, params = nnx.split(Net(nnx.Rngs(0)))

    def loss_fn(params, x, y):
        return ((nnx.merge(graph, params)(x) - y) ** 2).mean()

    state, losses = tx.init(params), []
    for _ in range(epochs):
        for start in range(0, len(x), size):
            batch = x[start : start + size], y[start : start + size]
            loss, gradients = jax.value_and_grad(loss_fn)(params, *batch)
            updates, state = tx.update(gradients, state, params)
            params = optax.apply_updates(params, updates)
            losses.append(float(loss))
    return losses, jax.tree.leaves(params)


@pytest.mark.parametrize(
    ("replicas", "from_function"),
    [
        (4, False),
        *(
            pytest.param(*pair, marks=pytest.mark.slow)
            for pair in [(1, False), (1, True), (2, False), (2, True), (4, True)]
        ),
    ],
)
def test_n_replicas_equal_one(replicas, from_function):
    """Adam, three epochs of 8 + 8 + 3 rows: the same losses and weights as on one device."""
    x, y = regression(19)
    expected_losses, expected_weights = plain_loop(optax.adam(1e-2), x, y, 8, epochs=3)
    strategy = mirrored(replicas)
    dataset = tf.data.Dataset.from_tensor_slices((x, y))
    if from_function:
        batches = strategy.distribute_datasets_from_function(
            lambda context: dataset.batch(context.get_per_replica_batch_size(8))
        )
    else:
        batches = strategy.experimental_distribute_dataset(dataset.batch(8))
    with strategy.scope():
        model = Net(nnx.Rngs(0))
        optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)

    def train_step(batch):
        x, y = batch

        def loss_fn(model):
            return tf.nn.compute_average_loss((model(x) - y) ** 2)

        loss, gradients = nnx.value_and_grad(loss_fn)(model)
        optimizer.update(model, gradients)
        return loss

    @tf.function
    def train(batch):
        losses = strategy.run(train_step, args=(batch,))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    losses = [float(train(batch)) for _ in range(3) for batch in batches]
    np.testing.assert_allclose(losses, expected_losses, rtol=2e-5)
    assert losses[-1] < losses[0]
    weights = jax.tree.leaves(nnx.state(model, nnx.Param))
    for weight, expected in zip(weights, expected_weights, strict=True):
        np.testing.assert_allclose(weight, expected, rtol=1e-4, atol=1e-6)
    assert train.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("replicas", [2, 4])
def test_a_loop_without_tf_function_trains_the_same(replicas):
    x, y = regression(19)
    expected_losses, _ = plain_loop(optax.adam(1e-2), x, y, 8, epochs=1)
    strategy, traces = mirrored(replicas), []
    batches = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices({"x": x, "y": y}).batch(8)
    )
    with strategy.scope():
        model = Net(nnx.Rngs(0))
        optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)

        def train_step(batch):
            traces.append(1)

            def loss_fn(model):
                return tf.nn.compute_average_loss((model(batch["x"]) - batch["y"]) ** 2)

            loss, gradients = nnx.value_and_grad(loss_fn)(model)
            optimizer.update(model, gradients)
            return loss

        losses = []
        for batch in batches:
            result = strategy.run(train_step, args=(batch,))
            losses.append(float(strategy.reduce("SUM", result, axis=None)))
    np.testing.assert_allclose(losses, expected_losses, rtol=2e-5)
    assert len(traces) == 2, "once more when a partial batch comes"


def test_several_steps_in_one_function():
    """TensorFlow scripts put a loop over steps inside of tf.function to spare calls."""
    x, y = regression(16)
    expected_losses, _ = plain_loop(optax.sgd(0.1), x, y, 8, epochs=1)
    strategy = mirrored()
    batches = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
    )
    with strategy.scope():
        model = Net(nnx.Rngs(0))
        optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)

    def train_step(batch):
        def loss_fn(model):
            return tf.nn.compute_average_loss((model(batch[0]) - batch[1]) ** 2)

        loss, gradients = nnx.value_and_grad(loss_fn)(model)
        optimizer.update(model, gradients)
        return loss

    @tf.function
    def train(batches):
        return [
            strategy.reduce("SUM", strategy.run(train_step, args=(batch,)), axis=None)
            for batch in batches
        ]

    losses = [float(loss) for loss in train(list(batches))]
    np.testing.assert_allclose(losses, expected_losses, rtol=2e-5)


def test_a_careless_mean_over_a_partial_batch_is_that_of_each_replica():
    strategy = mirrored()

    @tf.function
    def careless(batch):
        losses = strategy.run(lambda x: x.mean(), args=(batch,))
        return strategy.reduce("MEAN", losses, axis=None)

    full, partial = distributed(strategy, 7)
    assert float(careless(full)) == 2.5
    assert careless.explain().path == "masked"
    assert float(careless(partial)) == ((5 + 6) / 2 + 7) / 2
    assert careless.explain().path == "unequal"
    assert careless.explain().rows == ((2, 1),)


def test_rows_are_counted_as_they_are():
    strategy = mirrored(4)
    rows = tf.Variable(0, aggregation=tf.VariableAggregation.SUM, trainable=False)

    @tf.function
    def count(batch):
        def replica(x):
            rows.assign_add(tf.shape(x)[0])
            return tf.reduce_sum(x), tf.size(x)

        total, sizes = strategy.run(replica, args=(batch,))
        return strategy.reduce("SUM", total, axis=None), strategy.reduce("SUM", sizes, axis=None)

    found = [tuple(map(float, count(batch))) for batch in distributed(strategy, 14)]
    assert sum(total for total, _ in found) == sum(range(1, 15))
    assert sum(size for _, size in found) == int(rows) == 14


def test_no_warnings_in_an_ordinary_script():
    strategy = mirrored()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        total = tf.function(
            lambda b: strategy.reduce("SUM", strategy.run(lambda x: x * 1.0, (b,)), axis=0)
        )
        assert [float(total(b)) for b in distributed(strategy, 6)] == [10.0, 11.0]
    assert [str(warning.message) for warning in caught] == []


def test_a_first_call_may_compute_the_initial_value_of_a_variable():
    class Layer(tf.Module):
        def __init__(self):
            super().__init__()
            self.calls, self.bias, self.kernel = tf.Variable(0), None, None

        @tf.function
        def __call__(self, x):
            self.calls.assign_add(1)
            if self.kernel is None:
                self.bias = tf.Variable(tf.zeros([2]))
                limit = tf.sqrt(6.0 / tf.cast(tf.shape(x)[-1], tf.float32))
                self.kernel = tf.Variable(tf.random.uniform([3, 2], -limit, limit))
            return x @ self.kernel + self.bias

    layer, x = Layer(), tf.ones([4, 3])
    first = layer(x)
    np.testing.assert_allclose(layer(x), first, rtol=1e-6)
    layer.bias.assign_add([1.0, 2.0])
    np.testing.assert_allclose(layer(x), first + np.array([1.0, 2.0]), rtol=1e-5)
    assert layer.calls.numpy() == 3
    assert len(layer.trainable_variables) == 3
    assert layer.__call__.experimental_get_tracing_count() == 1


def test_each_call_may_not_compute_one():
    made = []

    @tf.function
    def always(x):
        made.append(tf.Variable(x * 2))
        return made[-1] + 1

    assert always(tf.constant(1.0)) == 3
    with pytest.raises(ValueError, match="computed by the step that makes it"):
        always(tf.constant(1.0))


def test_signatures_as_text():
    @tf.function
    def double(a, *, times=1):
        return a * 2 * times

    for x in (tf.constant(1), tf.constant([1.0, 2.0]), tf.constant(2), tf.constant(3)):
        double(x)
    assert double.pretty_printed_concrete_signatures().splitlines() == [
        "double(TensorSpec(shape=(), dtype=int32, name=None), times=1)",
        "double(TensorSpec(shape=(2,), dtype=float32, name=None), times=1)",
    ]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: tf.zeros([tf.cast(x[0], tf.int32)]), [0, 0, 0]),
        (lambda x: tf.tile(x, [tf.cast(x[1], tf.int32)]), [3, 1, 2]),
        (lambda x: tf.repeat(x, tf.cast(x, tf.int32)), [3, 3, 3, 1, 2, 2]),
        (lambda x: tf.pad(x, [[0, tf.cast(x[1], tf.int32)]]), [3, 1, 2, 0]),
        (lambda x: tf.range(x[0]), [0, 1, 2]),
        (lambda x: tf.math.top_k(x, k=tf.cast(x[2], tf.int32)).values, [3, 2]),
    ],
)
def test_a_size_that_only_the_run_knows(function, expected) -> None:
    compiled = tf.function(function)
    with pytest.warns(UserWarning, match=r"runs as Python.*programs have fixed shapes"):
        assert compiled(tf.constant([3.0, 1.0, 2.0])).tolist() == expected


def test_what_python_itself_needs_is_an_error() -> None:
    compiled = tf.function(lambda x: [1, 2, 3][tf.cast(x, tf.int32)])
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="needs the value"):
        compiled(tf.constant(1.0))


def test_a_replica_has_no_size_that_only_the_run_knows() -> None:
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    compiled = tf.function(lambda n: strategy.run(lambda n: tf.zeros([n]), (n,)))
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="needs the value"):
        compiled(tf.constant(2))


def test_a_number_that_is_a_size_is_one_in_each_program() -> None:
    @tf.function
    def first(x, n):
        return x[:n]

    x = tf.constant([3.0, 1.0, 2.0])
    assert [first(x, n).tolist() for n in (1, 2, 3)] == [[3], [3, 1], [3, 1, 2]]
    assert first.experimental_get_tracing_count() == 3


def test_texts_run_as_python() -> None:
    length = tf.function(lambda x: tf.strings.length(x))
    with pytest.warns(UserWarning, match=r"runs as Python.*An argument is a text"):
        found = length(tf.constant("a"))
    assert isinstance(found, tf.Tensor)
    for text in ("ab", ["a", "abc"]):  # without more warnings
        assert np.all(length(tf.constant(text)) == np.vectorize(len)(text))
    declared = tf.function(length.python_function, input_signature=[tf.TensorSpec([], tf.string)])
    with pytest.warns(UserWarning, match="runs as Python"):
        assert declared("abc") == 3
    assert [f.experimental_get_tracing_count() for f in (length, declared)] == [0, 0]


def test_what_gets_texts_is_a_program_without_them() -> None:
    double = tf.function(lambda x, name: x * 2)
    with pytest.warns(UserWarning, match="runs as Python"):
        assert double(tf.constant(1.0), {"name": tf.constant("a")}) == 2
    assert double(tf.constant(1.0), "a") == 2
    assert double.experimental_get_tracing_count() == 1


def test_a_custom_loop_without_a_strategy_is_traced_once():
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    optimizer, traces = tf.keras.optimizers.Adam(0.1), []

    @tf.function
    def train(x):
        traces.append(1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    losses = [float(train(tf.ones((4, 2)))) for _ in range(3)]
    assert losses[2] < losses[1] < losses[0]
    assert len(traces) == 1
