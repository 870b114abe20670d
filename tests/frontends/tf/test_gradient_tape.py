"""`tf.GradientTape`: the gradients and the rules of TensorFlow's, eagerly and in replicas."""

import jax
import jax.numpy as jnp
import keras
import numpy as np
import optax
import pytest
from flax import nnx

import spmd
from frontends import tf


def _x(*shape):
    return jnp.asarray(np.random.default_rng(0).normal(size=shape).astype(np.float32))


def _cube_of(x, **options):
    with tf.GradientTape(**options) as tape:
        tape.watch(x)
        y = x**3
    return tape, y


def test_watched_arrays_and_others():
    x = jnp.float32(2.0)
    tape, y = _cube_of(x)
    assert float(tape.gradient(y, x)) == 12.0
    with tf.GradientTape(persistent=True) as tape:
        y = x**3
        tape.watch(y)
        z = y * 2
    assert tape.gradient(z, x) is None, "not watched, so not a source"
    assert float(tape.gradient(z, y)) == 2.0, "computed on the tape"


def test_structures_of_sources_and_targets():
    a, b = jnp.float32(2.0), jnp.float32(3.0)
    with tf.GradientTape() as tape:
        tape.watch({"a": a, "b": b})
        targets = [a * b, (a**2, b * 1.0)]
    gradients = tape.gradient(targets, {"a": a, "rest": (b, [a])})
    assert jax.tree.map(float, gradients) == {"a": 7.0, "rest": (3.0, [7.0])}


def test_output_gradients_weigh_the_target():
    x = _x(3)
    tape, y = _cube_of(x, persistent=True)
    weights = jnp.float32([1, 0, 2])
    np.testing.assert_allclose(tape.gradient(y, x, weights), 3 * x**2 * weights, rtol=1e-6)
    np.testing.assert_allclose(
        tape.gradient([y, y], x, [None, weights]), 3 * x**2 * (weights + 1), rtol=1e-6
    )
    with pytest.raises(ValueError, match="2 entries, but the target has 1"):
        tape.gradient(y, x, [weights, weights])


def test_unconnected_gradients():
    x, other = _x(2), _x(3)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        y = x * 2
    assert tape.gradient(y, other) is None
    for zero in (tf.UnconnectedGradients.ZERO, "zero"):
        assert tape.gradient(y, other, unconnected_gradients=zero).tolist() == [0, 0, 0]
    assert tape.gradient(tf.argmax(y), x) is None, "integers have no gradient"
    with pytest.raises(ValueError, match="is not a valid UnconnectedGradients"):
        tape.gradient(y, x, unconnected_gradients="nothing")


def test_a_tape_is_used_once_unless_persistent():
    x = _x(2)
    tape, y = _cube_of(x)
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="only be used to compute one set of gradients"):
        tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="only be used to compute one set of gradients"):
        tape.jacobian(y, x)
    tape, y = _cube_of(x, persistent=True)
    np.testing.assert_array_equal(tape.gradient(y, x), tape.gradient(y, x))


@pytest.mark.parametrize(
    "wrong",
    [
        {"target": "y"},
        {"unconnected_gradients": "unknown"},
        {"output_gradients": [1.0, 2.0]},
    ],
)
def test_a_call_that_is_refused_does_not_use_the_tape(wrong):
    x = jnp.float32(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises((TypeError, ValueError)):
        tape.gradient(**{"target": y, "sources": x, **wrong})
    assert float(tape.gradient(y, x)) == 6.0


def test_tapes_may_end_in_another_order_than_they_began():
    x = jnp.float32(3.0)
    first, second = tf.GradientTape(persistent=True), tf.GradientTape(persistent=True)
    for tape in (first, second):
        tape.__enter__()
        tape.watch(x)
    square = x * x
    first.__exit__(None, None, None)
    cube = square * x
    second.__exit__(None, None, None)
    fourth = cube * x
    assert [float(tape.gradient(square, x)) for tape in (first, second)] == [6.0, 6.0]
    assert first.gradient(cube, x) is None
    assert float(second.gradient(cube, x)) == 27.0
    assert second.gradient(fourth, x) is None


def test_reset_and_recording_twice():
    x = _x(2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        x * 3
        tape.reset()
        tape.watch(x)
        y = x * 2
        with pytest.raises(ValueError, match="already recording"):
            tape.__enter__()
    assert tape.gradient(y, x).tolist() == [2, 2]
    with pytest.raises(ValueError, match="not recording"), tape.stop_recording():
        pass


def test_stop_recording():
    x = jnp.float32(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            factor = x * y
        z = y + x * factor
    assert float(tape.gradient(z, x)) == 6.0 + 27.0


def test_watching_what_cannot_be_watched():
    with tf.GradientTape() as tape:
        with pytest.raises(ValueError, match=r"Passed in object 3.0 of type float"):
            tape.watch(3.0)
        with pytest.warns(UserWarning, match="only floating-point"):
            tape.watch(jnp.int32(3))
    with pytest.raises(TypeError, match="target of a gradient is an array"):
        tape.gradient("loss", _x(2))


def test_second_order():
    x = jnp.float32(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        first = inner.gradient(y, x)
    assert float(first) == 12.0
    assert float(outer.gradient(first, x)) == 12.0


def test_a_gradient_inside_of_its_own_tape():
    x = jnp.float32(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x**3
        first = tape.gradient(y, x)
        z = first * 2
    assert float(first) == 12.0
    assert float(tape.gradient(y, x)) == 12.0
    with pytest.raises(RuntimeError, match="Put a second one around it"):
        tape.gradient(z, x)


def test_jacobians():
    x = _x(4, 3)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = jnp.sin(x) * jnp.roll(x, 1, axis=-1)
    expected = jax.jacrev(lambda x: jnp.sin(x) * jnp.roll(x, 1, axis=-1))(x)
    np.testing.assert_allclose(tape.jacobian(y, x), expected, rtol=1e-5, atol=1e-6)
    rows = np.stack([expected[i, :, i] for i in range(4)])
    np.testing.assert_allclose(tape.batch_jacobian(y, x), rows, rtol=1e-5, atol=1e-6)
    assert tape.jacobian(y, [x, _x(2)])[1] is None
    assert tape.jacobian(y, _x(2), unconnected_gradients="zero").shape == (4, 3, 2)
    with pytest.raises(ValueError, match="as many rows"):
        tape.batch_jacobian(y, _x(3, 3))


def _losses(replicas, gradients_of):
    strategy = tf.distribute.MirroredStrategy([f"cpu:{i}" for i in range(replicas)])
    with strategy.scope():
        layers = [nnx.Linear(5, 8, rngs=nnx.Rngs(0)), nnx.relu, nnx.Linear(8, 1, rngs=nnx.Rngs(1))]
        model = nnx.Sequential(*layers)
        optimizer = nnx.Optimizer(model, optax.adam(0.01), wrt=nnx.Param)

    def step(x):
        loss, gradients = gradients_of(
            lambda model: tf.nn.compute_average_loss(model(x)[:, 0] ** 2), model
        )
        optimizer.update(model, gradients)
        return loss

    @tf.function
    def train(batch):
        return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)

    x = np.random.default_rng(0).normal(size=(22, 5)).astype(np.float32)
    batches = list(spmd.distribute(x, strategy.mesh, batch_size=8))
    losses = [float(train(batch)) for _ in range(3) for batch in batches]
    return losses, train.get_concrete_function(batches[0]).cost["flops"]


def _by_tape(loss_of, model):
    with tf.GradientTape() as tape:
        loss = loss_of(model)
    return loss, tape.gradient(loss, nnx.state(model, nnx.Param))


@pytest.mark.parametrize(
    "replicas",
    [2, pytest.param(1, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)],
)
def test_a_tape_in_replicas_trains_like_value_and_grad_for_the_same_work(replicas):
    losses, work = _losses(replicas, _by_tape)
    expected, least = _losses(replicas, lambda loss_of, model: nnx.value_and_grad(loss_of)(model))
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    assert work <= 1.02 * least


def test_the_gradient_of_a_replica_is_its_own():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    weight = tf.Variable(3.0)

    def replica():
        context = tf.distribute.get_replica_context()
        with tf.GradientTape() as tape:
            loss = weight**2 * tf.cast(context.replica_id_in_sync_group + 1, tf.float32)
        return tape.gradient(loss, weight)

    assert [float(value) for value in strategy.run(replica).values] == [6.0, 12.0]


def test_gradients_that_nobody_sums_are_refused():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    weight = tf.Variable(3.0, name="weight")

    def replica(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weight * x)
        weight.assign_sub(tape.gradient(loss, weight))

    batch = next(iter(spmd.distribute(np.ones(4, np.float32), strategy.mesh, batch_size=4)))
    with pytest.raises(spmd.errors.ReplicaDivergenceError, match="weight"):
        strategy.run(replica, args=(batch,))


def test_a_compiled_function_that_closes_over_a_variable():
    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = jax.jit(lambda x: x * w.value())(jnp.float32(2.0)) + w
    assert float(tape.gradient(y, w)) == 3.0


def test_a_jacobian_inside_of_its_own_tape_is_not_differentiated():
    x = _x(2)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x**3
        z = tape.jacobian(y, x) * 2
    with pytest.raises(RuntimeError, match="Put a second one around it"):
        tape.gradient(z, x)


def test_numpy_leaves_arithmetic_to_the_variable():
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(np.float32(2) * w + np.float32([1, 2]) * w)
    assert tape.gradient(y, w).tolist() == [3, 4]


def test_a_gradient_taken_while_recording_is_stopped_is_a_constant():
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            gradient = tape.gradient(y, x)
        z = y * gradient
    assert float(tape.gradient(z, x)) == 16.0  # as TensorFlow: 2 x * 4


@pytest.mark.parametrize("run", [lambda f: f(), lambda f: tf.function(f)()])
def test_a_step_between_use_and_gradient(run):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        v = tf.Variable(2.0, aggregation=tf.VariableAggregation.MEAN)

    def reads_it():
        with tf.GradientTape() as tape:
            y = v * v
        strategy.run(lambda: v * 1.0)  # moves it to all devices
        return tape.gradient(y, v)

    def writes_it():
        with tf.GradientTape() as tape:
            y = v * v
            strategy.run(lambda: v.assign_add(1.0))
            z = y + v
        return tape.gradient(z, v)

    assert float(run(reads_it)) == 4.0
    assert float(run(writes_it)) == 5.0  # as TensorFlow: 4 of the first use, 1 of the second


def test_a_step_that_moves_a_model_between_use_and_gradient():
    layer = keras.layers.Dense(1, kernel_initializer="ones")
    layer.build((None, 2))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(layer(tf.constant([[1.0, 2.0]])))
    tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).run(lambda: layer(tf.ones([1, 2])))
    kernel, bias = tape.gradient(y, layer.trainable_variables)
    np.testing.assert_array_equal(kernel, [[1.0], [2.0]])
    np.testing.assert_array_equal(bias, [1.0])


def test_a_tape_keeps_only_what_it_used_of_a_variable_that_steps_change():
    v = tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
    step = tf.function(lambda: v.assign_add(1.0))
    for _ in range(3):
        step()
    assert list(map(float, tape._recording.former(v))) == [1.0]
    assert float(tape.gradient(y, v)) == 2.0


@pytest.mark.parametrize("run", [lambda f: f(), lambda f: tf.function(f)()])
def test_no_gradient_goes_through_an_assignment(run):
    v = tf.Variable(2.0)

    def adds():
        with tf.GradientTape() as tape:
            y = v * v
            z = y + v.assign_add(1.0)
        return tape.gradient(z, v)

    def assigns():
        with tf.GradientTape() as tape:
            v.assign(v * v)
            z = 3.0 * v
        return tape.gradient(z, v)

    def uses_what_it_assigned():
        with tf.GradientTape() as tape:
            square = v * v
            v.assign(square)
            z = 3.0 * square
        return tape.gradient(z, v)

    # As TensorFlow.
    assert float(run(adds)) == 5.0
    v.assign(2.0)
    assert float(run(assigns)) == 3.0
    v.assign(2.0)
    assert float(run(uses_what_it_assigned)) == 12.0


def test_no_gradient_goes_through_an_assignment_of_keras():
    variable = keras.Variable(2.0)
    with tf.GradientTape() as tape:
        square = variable * variable
        variable.assign(square)
        z = variable * 3.0 + square
    assert float(tape.gradient(z, variable)) == 7.0


def test_an_assignment_between_two_derivatives():
    v = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = v**3
            v.assign_add(1.0)
            z = y + v**3
        first = inner.gradient(z, v)
    assert float(first) == 39.0  # as TensorFlow
    assert float(outer.gradient(first, v)) == 30.0


@pytest.mark.parametrize("run", [lambda f: f(), lambda f: tf.function(f)()])
def test_two_optimizers_after_one_tape(run):
    layer = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
    layer.build((None, 2))
    first, second = keras.optimizers.SGD(0.1), keras.optimizers.SGD(0.1)

    def step():
        x = tf.constant([[1.0, 2.0]])
        with tf.GradientTape(persistent=True) as tape:
            y = layer(x)
            losses = [tf.reduce_sum(y), tf.reduce_sum(y * y)]
        for loss, optimizer in zip(losses, (first, second), strict=True):
            gradients = tape.gradient(loss, layer.trainable_variables)
            optimizer.apply_gradients(zip(gradients, layer.trainable_variables, strict=True))
        return layer.kernel.value

    found = np.asarray(run(step)).ravel()
    # Both gradients are those of the weights that computed y = 3: 1 x, then 6 x.
    np.testing.assert_allclose(found, [1 - 0.7, 1 - 1.4], rtol=1e-6)


def test_a_tape_that_is_over_remembers_nothing():
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v)
    v.assign(2.0)
    assert tape._recording.former(v) == []
