"""Sources of gradients: variables of every library, their former values, complex arrays."""

import jax
import jax.numpy as jnp
import keras
import numpy as np
import optax
import pytest
from flax import nnx

import spmd
from frontends import tf

Z, W = jnp.complex64(1 + 2j), jnp.complex64(0.5 - 1j)


def _x(*shape):
    return jnp.asarray(np.random.default_rng(0).normal(size=shape).astype(np.float32))


def test_variables_of_every_library():
    ours, theirs = tf.Variable(2.0), keras.Variable(np.float32(3.0))
    flax, engine = nnx.Param(jnp.float32(4.0)), spmd.Variable(jnp.float32(5.0))
    with tf.GradientTape() as tape:
        y = ours * theirs.value * flax[...] * engine.value
    gradients = tape.gradient(y, [ours, theirs, flax, engine])
    assert [float(gradient) for gradient in gradients] == [60, 40, 30, 24]


def test_variables_may_be_left_to_watch():
    first, second = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(second)
        y = first * second
    assert tape.watched_variables() == (second,)
    gradients = tape.gradient(y, [first, second])
    assert gradients[0] is None
    assert float(gradients[1]) == 2.0


def test_gradients_come_back_as_flax_wants_them():
    model = nnx.Linear(3, 1, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
    with tf.GradientTape() as tape:
        loss = (model(_x(4, 3)) ** 2).mean()
    gradients = tape.gradient(loss, nnx.state(model, nnx.Param))
    expected = nnx.grad(lambda model: (model(_x(4, 3)) ** 2).mean())(model)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), gradients, expected)
    optimizer.update(model, gradients)


def test_variables_that_were_assigned_from_each_other_are_two_sources():
    w, target = tf.Variable(1.0), tf.Variable(0.0)
    target.assign(w)
    with tf.GradientTape() as tape:
        y = w * 3 + target * 5
    assert [float(gradient) for gradient in tape.gradient(y, [w, target])] == [3, 5]


@pytest.mark.parametrize("read", [tf.identity, tf.stop_gradient, lambda w: w.read_value()])
def test_what_was_read_before_is_no_source(read):
    w = tf.Variable(2.0)
    old = read(w)
    with tf.GradientTape() as tape:
        y = w * old
    assert float(tape.gradient(y, w)) == 2.0


# As TensorFlow 2.21 computes them: gradients by z = 1 + 2j, with w = 0.5 - 1j.
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda z: z * z, 2 - 4j),
        (lambda z: W * z, 0.5 + 1j),
        (jnp.conj, 1),
        (lambda z: z * jnp.conj(z), 2 + 4j),
        (lambda z: tf.abs(z) ** 2, 2 + 4j),
        (tf.abs, 0.4472136 + 0.8944272j),
        (tf.exp, -1.1312044 - 2.4717267j),
        (lambda z: jnp.real(z * z * W), 5),
        (lambda z: jnp.imag(z * z * W), 5j),
    ],
)
def test_gradients_by_complex_arrays_point_upwards(function, expected):
    with tf.GradientTape() as tape:
        tape.watch(Z)
        y = function(Z)
    np.testing.assert_allclose(tape.gradient(y, Z), expected, rtol=1e-6)


def test_complex_weights_and_jacobians_and_second_order():
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(Z)
        with tf.GradientTape() as inner:
            inner.watch(Z)
            y = W * Z**3
        slope = inner.gradient(y, Z)
        square = Z * Z
    np.testing.assert_allclose(outer.gradient(slope, Z), 15, rtol=1e-6)
    np.testing.assert_allclose(outer.gradient(square, Z, output_gradients=1 + 1j), 6 - 2j)
    zs = jnp.array([1 + 2j, 3 - 1j], jnp.complex64)
    with tf.GradientTape() as tape:
        tape.watch(zs)
        y = zs * zs * W
    np.testing.assert_allclose(tape.jacobian(y, zs), np.diag([5, 1 + 7j]), rtol=1e-6)


def test_a_real_source_under_complex_operations():
    x = jnp.float32(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.abs(tf.cast(x, tf.complex64) * W) ** 2
    np.testing.assert_allclose(tape.gradient(y, x), 7.5, rtol=1e-6)


def test_a_variable_written_after_it_was_used_is_the_same_source():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    v.assign(0.0)
    assert float(tape.gradient(y, v)) == 6.0
    with tf.GradientTape() as tape:
        y = v * 2.0
        v.assign(5.0)
        z = y + v * v
    assert float(tape.gradient(z, v)) == 12.0  # as TensorFlow: 2 of the first use, 10 of the second


def test_a_variable_that_is_given_the_same_array_counts_once():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        held = v._value
    v._set(tf.constant(1.0))
    v._set(held)
    assert float(tape.gradient(y, v)) == 6.0


@pytest.mark.parametrize("compiled", [False, True])
def test_variables_that_were_read_are_watched(compiled):
    first, second, frozen = tf.Variable(2.0), tf.Variable(3.0), tf.Variable(4.0, trainable=False)
    count, unread = tf.Variable(1), tf.Variable(5.0)

    def slopes():
        with tf.GradientTape() as tape:
            y = second * first * frozen * tf.cast(count, tf.float32)
            first.assign(10.0)
        found.append([*tape.watched_variables()])
        return tape.gradient(y, tape.watched_variables())

    found = []
    gradients = (tf.function(slopes) if compiled else slopes)()
    assert [float(gradient) for gradient in gradients] == [8, 12]
    for seen in found:
        assert seen[0] is second
        assert seen[1] is first
        assert len(seen) == 2
    assert float(unread) == 5


def test_without_automatic_watching_only_what_was_watched():
    first, second = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(second)
        first * second
    (only,) = tape.watched_variables()
    assert only is second


def test_variables_of_a_layer_are_watched():
    layer = tf.keras.layers.Dense(2)
    layer.build([None, 3])
    with tf.GradientTape() as tape:
        layer(tf.ones([1, 3]))
    kernel, bias = tape.watched_variables()
    assert kernel is layer.kernel
    assert bias is layer.bias
