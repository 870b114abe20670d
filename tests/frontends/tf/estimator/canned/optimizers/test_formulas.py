"""Updates of Keras 2's optimizers, beside formulas in NumPy."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends.tf.estimator.canned.optimizers import formulas

G, V = np.array([0.5, -2.0], np.float32), np.array([1.0, 1.0], np.float32)


def _update(formula, *scalars, slots=None):
    starts = [jnp.full(2, one) for one in formula.initial()] if slots is None else slots
    value, slots = formula.update(
        jnp.asarray(V), starts, jnp.asarray(G), *map(jnp.float32, scalars)
    )
    return np.asarray(value), [np.asarray(one) for one in slots]


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_accumulates_updates(nesterov):
    value, (accumulated,) = _update(formulas.KerasMomentum(nesterov), 0.1, 0.5)
    np.testing.assert_allclose(accumulated, -0.1 * G, rtol=1e-6)
    expected = V + (0.5 * accumulated - 0.1 * G if nesterov else accumulated)
    np.testing.assert_allclose(value, expected, rtol=1e-6)


def test_adagrad_adds_epsilon_to_the_root():
    value, (total,) = _update(formulas.KerasAdagrad(0.1), 0.1, 0.01)
    np.testing.assert_allclose(total, 0.1 + G * G, rtol=1e-6)
    np.testing.assert_allclose(value, V - 0.1 * G / (np.sqrt(total) + 0.01), rtol=1e-6)


def test_amsgrad_divides_by_the_largest_square():
    large = [jnp.zeros(2), jnp.zeros(2), jnp.full(2, 9.0)]
    scalars = 0.1, 0.9, 0.99, 1e-7, 0.9, 0.99
    value, (m, _, largest) = _update(formulas.AmsGrad(), *scalars, slots=large)
    assert largest.tolist() == [9.0, 9.0]
    np.testing.assert_allclose(value, V - 0.1 * np.sqrt(0.01) / 0.1 * m / 3, rtol=1e-5)


def test_adamax_divides_by_the_largest_gradient():
    value, (m, v) = _update(formulas.AdaMax(), 0.1, 0.9, 0.99, 1e-7, 0.9)
    np.testing.assert_allclose(v, np.abs(G), rtol=1e-6)
    np.testing.assert_allclose(value, V - 0.1 / 0.1 * m / v, rtol=1e-5)


@pytest.mark.parametrize("centered", [False, True])
def test_rmsprop_divides_by_the_average_square(centered):
    value, slots = _update(formulas.KerasRMSProp(centered), 0.1, 0.9, 0.0, 1e-7)
    variance = 0.1 * G * G - (0.1 * G) ** 2 * centered
    assert len(slots) == 1 + centered
    np.testing.assert_allclose(value, V - 0.1 * G / np.sqrt(variance), rtol=1e-5)
    value, slots = _update(formulas.KerasRMSPropMomentum(centered), 0.1, 0.9, 0.5, 1e-7)
    assert len(slots) == 2 + centered
    np.testing.assert_allclose(value, V - 0.1 * G / np.sqrt(variance + 1e-7), rtol=1e-5)
