"""`tf.custom_gradient` and `tf.recompute_grad`; the numbers are TensorFlow's."""

import jax
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.ops.running import everywhere


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def grad(upstream):
        return upstream * (1 - 1 / (1 + e))

    return tf.math.log(1 + e), grad


def derivatives(function):
    def call(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = function(x)
            first = inner.gradient(y, x)
        return y, first, outer.gradient(first, x)

    return call


def test_first_and_second_derivatives():
    found = everywhere(derivatives(log1pexp), 1.5)
    sigmoid = 1 / (1 + np.exp(-1.5))
    np.testing.assert_allclose(found[1:], [sigmoid, sigmoid * (1 - sigmoid)], rtol=1e-5)
    assert np.isfinite(tf.function(derivatives(log1pexp))(tf.constant(80.0))[1])


def test_with_transformations_of_jax():
    sigmoid = 1 / (1 + np.exp(-1.5))
    for function in (jax.grad(log1pexp), jax.jit(jax.grad(log1pexp))):
        np.testing.assert_allclose(function(1.5), sigmoid, rtol=1e-5)
    second = jax.grad(jax.grad(log1pexp))
    np.testing.assert_allclose(second(1.5), sigmoid * (1 - sigmoid), rtol=1e-4)


def test_what_is_handed_through_unchanged():
    @tf.custom_gradient
    def reversed_gradient(x):
        return x, lambda dy: -2 * dy

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = reversed_gradient(x) * 3
        return tape.gradient(y, x)

    assert everywhere(gradient, [1.0, 2.0]) == [-6, -6]

    def in_a_loop(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.scan(lambda a, r: reversed_gradient(a * r), x)[-1]
        return tape.gradient(y, x)

    assert everywhere(in_a_loop, [1.0, 2.0, 3.0]) == [24, 12, -4]


def test_structures_and_several_results():
    @tf.custom_gradient
    def both(pair, scale=2.0):
        x, y = pair["x"], pair["y"]
        return (x * y * scale, x + y), lambda a, b: {"x": a * 10, "y": b * 100}

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            product, total = both({"x": x, "y": x * 2}, scale=3.0)
        return product, tape.gradient([product, total], x)

    assert everywhere(gradient, 3.0) == (54, 10 + 200)


def test_variables():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        weight = tf.Variable([1.0, 2.0])
        calls = tf.Variable(0, trainable=False)

    @tf.custom_gradient
    def function(x):
        calls.assign_add(1)

        def grad(dy, variables=None):
            assert [v is weight for v in variables] == [True]
            return dy * 10, [dy * 100]

        return x * weight, grad

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, [x, weight])

    x = tf.constant([1.0, 2.0])
    found = gradient(x), tf.function(gradient)(x)
    assert [[g.tolist() for g in gradients] for gradients in found] == [[[10, 10], [100, 100]]] * 2
    own = strategy.run(gradient, (x,))[1]
    assert [v.tolist() for v in own.values] == [[100, 100]] * 2
    assert calls.numpy() == 3


def test_a_variable_as_argument_and_a_method():
    class Layer:
        def __init__(self):
            self.weight = tf.Variable(2.0)

        @tf.custom_gradient
        def method(self, x):
            return x * self.weight, lambda dy, variables=None: (dy, [7 * dy])

    @tf.custom_gradient
    def of_variable(v):
        return v * 1.0, lambda dy: 5 * dy

    layer = Layer()

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer.method(x) + of_variable(layer.weight)
        return tape.gradient(y, [x, layer.weight])

    assert everywhere(gradient, 3.0) == [1, 12]


def test_mistakes():
    weight = tf.Variable(1.0)

    def gradient(function):
        x = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.custom_gradient(function)(x)
        return tape.gradient(y, x)

    with pytest.raises(TypeError, match="must accept keyword argument 'variables'"):
        gradient(lambda x: (x * weight, lambda dy: dy))
    with pytest.raises(ValueError, match="expected to return 1 gradients, but returned 2"):
        gradient(lambda x: (x * 1, lambda dy: (dy, dy)))
    with pytest.raises(ValueError, match="Must return gradient for each variable"):
        gradient(lambda x: (x * weight, lambda dy, variables: (dy, [])))
    with pytest.raises(ValueError, match=r"shape \(2,\), but what it belongs to has shape \(\)"):
        gradient(lambda x: (x * 1, lambda dy: tf.stack([dy, dy])))
    with pytest.raises(TypeError, match="return y, grad"):
        tf.custom_gradient(lambda x: x)(1.0)


def test_without_a_tape_the_function_sees_values():
    @tf.custom_gradient()
    def function(x):
        return float(x) + 1, lambda dy: dy

    assert function(tf.constant(1.0)) == 2


def test_recompute_grad():
    weight = tf.Variable(2.0)
    calls = tf.Variable(0)

    @tf.recompute_grad
    def function(x):
        calls.assign_add(1)
        return tf.sin(x * weight)

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, [x, weight])

    x = tf.constant(1.0)
    program = tf.function(gradient)
    expected = [2 * np.cos(2), np.cos(2)]
    np.testing.assert_allclose(gradient(x), expected, rtol=1e-5)
    np.testing.assert_allclose(program(x), expected, rtol=1e-5)
    assert calls.numpy() == 2
    assert "checkpoint" in program.get_concrete_function(x).hlo


@pytest.mark.parametrize("compiled", [False, True])
def test_a_gradient_passes_through(compiled):
    def function(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.grad_pass_through(tf.round)(x * 2)
        return y, tape.gradient(y, x)

    y, gradient = (tf.function(function) if compiled else function)(tf.constant([0.8, 3.3]))
    assert (y.tolist(), gradient.tolist()) == ([2, 7], [2, 2])
