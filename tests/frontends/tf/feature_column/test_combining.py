"""Rows of a table, combined; tests/golden compares them with TensorFlow's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends.tf.feature_column.column import Ids
from frontends.tf.feature_column.combining import COMBINERS, check_combiner, combined_rows

TABLE = jnp.arange(8.0).reshape(4, 2)
VALUES = jnp.array([[0, 3, 3], [2, -1, 1], [-1, -1, -1]])
PRESENT = jnp.array([[True, True, True], [True, True, False], [False, True, False]])
WEIGHTS = jnp.array([[0.5, 2.0, -1.0], [jnp.nan, 1.0, 1.0], [1.0, 1.0, 1.0]]).at[1, 0].set(3.0)


@pytest.mark.parametrize("combiner", COMBINERS)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_rows_are_combined_as_a_loop_combines_them(combiner, weights):
    expected = np.zeros((3, 2), np.float32)
    for row in range(3):
        chosen = [
            (int(i), 1.0 if weights is None else float(weights[row, at]))
            for at, i in enumerate(VALUES[row])
            if PRESENT[row, at] and i >= 0
        ]
        if combiner != "sum":
            chosen = [(i, weight) for i, weight in chosen if weight > 0]
        total = sum((weight * np.asarray(TABLE)[i] for i, weight in chosen), np.zeros(2))
        size = {
            "sum": 1.0,
            "mean": sum(weight for _, weight in chosen),
            "sqrtn": sum(weight**2 for _, weight in chosen) ** 0.5,
        }[combiner]
        expected[row] = total / size if chosen else 0
    found = combined_rows(TABLE, Ids(VALUES, PRESENT, weights), combiner)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_what_does_not_count_has_no_gradient():
    def total(table):
        return combined_rows(table, Ids(VALUES, PRESENT), "sqrtn").sum()

    table = TABLE.at[1].set(jnp.inf)  # padding names it
    gradient = jax.grad(total)(table)
    assert jnp.isfinite(gradient).all()
    assert (gradient[1] == 0).all()


def test_long_rows_are_scaled_down():
    ids = Ids(jnp.array([[0], [3]]), jnp.ones((2, 1), bool))
    found = combined_rows(TABLE, ids, "sum", max_norm=2.0)
    np.testing.assert_allclose(jnp.linalg.norm(found, axis=-1), [1.0, 2.0], rtol=1e-6)


def test_other_combiners_are_refused():
    with pytest.raises(ValueError, match=r"'mean', 'sqrtn' or 'sum'\. Given: 'max'"):
        check_combiner("max")
