"""What formulas say of themselves; the numbers are in test_optimizers.py."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends.tf.compat.v1.train import formulas

ALL = [
    (formulas.GradientDescent(), (0.1,)),
    (formulas.Momentum(True), (0.1, 0.9)),
    (formulas.Momentum(False), (0.1, 0.9)),
    (formulas.Adam(), (0.1, 0.9, 0.99, 1e-3, 0.9, 0.99)),
    (formulas.Adagrad(0.1), (0.1,)),
    (formulas.RMSProp(True), (0.1, 0.9, 0.5, 1e-3)),
    (formulas.RMSProp(False), (0.1, 0.9, 0.5, 1e-3)),
    (formulas.Adadelta(), (0.1, 0.9, 1e-3)),
    (formulas.Ftrl(0.1, True), (0.1, -0.5, 0.01, 0.1, 0.2, 0.3)),
    (formulas.Ftrl(0.1, False), (0.1, -0.5, 0.01, 0.1, 0.2, 0.3)),
    (formulas.ProximalGradientDescent(), (0.1, 0.01, 0.1)),
    (formulas.ProximalAdagrad(0.1), (0.1, 0.01, 0.1)),
]


@pytest.mark.parametrize(("formula", "scalars"), ALL, ids=lambda one: str(one)[:20])
def test_rows_without_a_gradient_stay_as_they_are_if_the_formula_says_so(formula, scalars):
    scalars = tuple(map(jnp.float32, scalars))
    value = jnp.array([[1.0], [2.0]])
    state = value, [jnp.full((2, 1), one) for one in formula.initial()]
    for gradient in ([[1.0], [-2.0]], [[0.5], [1.0]]):
        state = formula.update(*state, jnp.array(gradient), *scalars)
    new, slots = formula.update(*state, jnp.array([[1.0], [0.0]]), *scalars)
    assert len(slots) == len(formula.initial())
    assert all(one.shape == value.shape for one in (new, *slots))
    pairs = zip((state[0], *state[1]), (new, *slots), strict=True)
    same = [np.allclose(old[1], one[1], rtol=1e-6) for old, one in pairs]
    assert all(same) == formula.is_by_row()
    assert new[0] != state[0][0]
