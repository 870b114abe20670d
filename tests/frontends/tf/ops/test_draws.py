"""Random numbers of a key."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends.tf.ops import draws


def test_integers_come_from_the_whole_dtype():
    drawn = np.asarray(draws.full_int_of(jax.random.key(1), [500], "int8"))
    assert drawn.min() < -100
    assert drawn.max() > 100


def test_parameters_are_broadcast():
    assert draws.joint_shape([[1.0], [2.0]], [1.0, 2.0, 3.0]) == (2, 3)


DRAWS = {
    "normal": (
        lambda key, shape: draws.normal_of(key, shape, 1.5, 0.3, "float32"),
        lambda key, shape: jax.random.normal(key, shape) * jnp.float32(0.3) + jnp.float32(1.5),
    ),
    "uniform": (
        lambda key, shape: draws.uniform_of(lambda: key, shape, -0.7, 0.1, "float32"),
        lambda key, shape: (
            jax.random.uniform(key, shape) * (jnp.float32(0.1) - jnp.float32(-0.7))
            + jnp.float32(-0.7)
        ),
    ),
    "truncated normal": (
        lambda key, shape: draws.truncated_of(key, shape, np.float32(1.5), 2, "float32"),
        lambda key, shape: jax.random.truncated_normal(key, -2.0, 2.0, shape) * 2 + 1.5,
    ),
}


@pytest.mark.parametrize(("ours", "expected"), DRAWS.values(), ids=DRAWS)
def test_shapes_share_programs_and_have_the_numbers_of_jax(ours, expected, caplog):
    key = jax.random.key(3)
    ours(key, [4])
    with jax.log_compiles(), caplog.at_level("DEBUG"):
        found = {shape: ours(key, shape) for shape in [(), (5,), (2, 7, 1), (61, 67)]}
        assert "Compiling" not in caplog.text
    for shape, drawn in found.items():
        np.testing.assert_array_equal(drawn, expected(key, shape))
        assert isinstance(drawn, jax.Array)


def test_parameters_that_are_arrays_broadcast():
    key, deviations = jax.random.key(3), jnp.asarray([1.0, 10.0])
    drawn = draws.normal_of(key, [3, 2], 0.0, deviations, "float32")
    np.testing.assert_array_equal(drawn, jax.random.normal(key, (3, 2)) * deviations)
    within = draws.uniform_of(lambda: key, [3, 2], 5 * deviations, 6 * deviations, "float32")
    assert ((within >= 5 * deviations) & (within < 6 * deviations)).all()
