"""Compiled pullbacks: the gradients of `jax.grad`, for the same operations only."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spmd.recording import Recording, pullbacks


@pytest.fixture
def known(monkeypatch):
    """Operations that recordings know of: none at first."""
    fresh = pullbacks.Pullbacks()
    monkeypatch.setattr("spmd.recording.recording._PULLBACKS", fresh)
    return fresh._known


def compiled(known):
    return sum(isinstance(one, pullbacks.Pullback) for one in known.values())


def gradients(function, *args, weights=None):
    recording = Recording()
    with recording.recording():
        results = jax.tree.leaves(function(*args))
    return recording.gradient(results[:1], args, weights)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: x @ w,
        lambda x, w: jnp.tanh(x) * w,
        lambda x, w: jax.nn.softmax(x) + jnp.exp(w),
        lambda x, w: jnp.where(x > w, x, 0.0),
        lambda x, w: jax.nn.relu(x) / w,
        lambda x, w: jnp.sort(x * w, axis=0),
        lambda x, w: jnp.linalg.qr(x * w),
    ],
)
def test_the_same_gradients(known, function):
    x, w = jax.random.normal(jax.random.key(0), (2, 4, 4)) + 2.0
    found = gradients(function, x, w)
    assert compiled(known)
    expected = jax.grad(lambda *both: jax.tree.leaves(function(*both))[0].sum(), (0, 1))(x, w)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(0 if one is None else one, other, rtol=1e-5, atol=1e-6)


def test_other_values_shapes_and_dtypes(known):
    def cube(x):
        return x**3

    gradients(cube, jnp.float32(1.0))
    (found,) = gradients(cube, jnp.float32(2.0))
    assert float(found) == 12
    assert compiled(known) == 1
    (found,) = gradients(cube, jnp.array([1.0, 2.0]))
    assert found.tolist() == [3, 12]
    (found,) = gradients(cube, jnp.bfloat16(2.0))
    assert (float(found), found.dtype) == (12, jnp.bfloat16)
    assert compiled(known) == 3


def test_what_stops_gradients(known):
    def function(x):
        return jax.lax.stop_gradient(x) * x + jnp.sign(x)

    (found,) = gradients(function, jnp.float32(3.0))
    assert float(found) == 3


def test_gradients_of_gradients(known):
    x = jnp.float32(2.0)
    outer, inner = Recording(), Recording()
    with outer.recording():
        with inner.recording():
            y = jnp.sin(x) * x
        (first,) = inner.gradient([y], [x])
    (second,) = outer.gradient([first], [x])
    np.testing.assert_allclose(second, 2 * np.cos(2.0) - 2 * np.sin(2.0), rtol=1e-6)
    assert compiled(known)


def test_operations_without_a_gradient(known):
    def function(x):
        return jax.lax.while_loop(lambda y: y < 10, lambda y: y * 2, x)

    for _ in range(2):
        with pytest.raises(ValueError, match="Reverse-mode differentiation"):
            gradients(function, jnp.float32(3.0))


def test_operations_in_a_trace_are_not_counted(known):
    function = jax.jit(lambda x: gradients(lambda y: y**3, x)[0])
    assert float(function(jnp.float32(2.0))) == 12
    assert not known


def test_the_oldest_operation_goes(known, monkeypatch):
    monkeypatch.setattr(pullbacks, "_MOST_KNOWN", 2)
    for size in range(1, 5):
        gradients(lambda x: x**3, jnp.ones(size))
    assert len(known) == 2


def test_operands_of_numpy_may_change_before_the_gradient():
    x, buffer = jnp.ones(()), np.zeros((4, 4), np.float32)
    recording = Recording()
    with recording.recording():
        total = jnp.zeros(())
        for value in (1, 2, 3):
            buffer[:] = value
            total = total + jnp.sum(x * buffer)
    (found,) = recording.gradient([total], [x])
    assert float(found) == 16 * 6


def test_python_is_not_called_again():
    calls = []

    def host(x):
        calls.append(1)
        return np.asarray(x) * 2

    @jax.custom_vjp
    def doubled(x):
        return jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    doubled.defvjp(lambda x: (doubled(x), None), lambda _, cotangent: (2 * cotangent,))
    compiled_function = jax.jit(lambda x: doubled(x) * x)
    x = jnp.float32(3.0)
    recording = Recording()
    with recording.recording():
        y = compiled_function(x)
    (found,) = recording.gradient([y], [x])
    assert float(found) == 12
    assert len(calls) == 1
