"""Squared deviations from the mean, and their derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spmd.integrations.keras.deviations import squared_deviations

VALUES = jnp.asarray(np.random.default_rng(0).normal(3, 2, (5, 4, 3)), jnp.float32)
SCALE = jnp.asarray([1.0, 2.0, 3.0])


def variance(values):
    return squared_deviations(values, values.mean((0, 1)), (0, 1)).reshape(3) / 20


def scaled(moment):
    """Something of which no derivative is simple."""
    return lambda values: (SCALE * jnp.sin(moment(values))).sum()


def test_they_make_the_variance():
    np.testing.assert_allclose(variance(VALUES), VALUES.var((0, 1)), rtol=1e-6)


@pytest.mark.parametrize(
    "derivative",
    [jax.grad, jax.jacfwd, jax.hessian, lambda f: jax.grad(lambda x: (jax.grad(f)(x) ** 2).sum())],
    ids=["grad", "forward", "hessian", "grad of a gradient's norm"],
)
def test_derivatives_are_those_of_the_variance(derivative):
    ours = derivative(scaled(variance))(VALUES)
    theirs = derivative(scaled(lambda values: values.var((0, 1))))(VALUES)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_the_mean_may_be_that_of_more_values():
    def of_parts(values):
        mean = values.mean((0, 1))
        first, rest = (squared_deviations(part, mean, (0, 1)) for part in (values[:2], values[2:]))
        return (first + rest).reshape(3) / 20

    ours = jax.grad(scaled(of_parts))(VALUES)
    np.testing.assert_allclose(ours, jax.grad(scaled(variance))(VALUES), rtol=1e-5, atol=1e-7)
