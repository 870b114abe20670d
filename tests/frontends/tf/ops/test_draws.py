"""Random numbers of a key."""

import jax
import numpy as np

from frontends.tf.ops import draws


def test_integers_come_from_the_whole_dtype():
    drawn = np.asarray(draws.full_int_of(jax.random.key(1), [500], "int8"))
    assert drawn.min() < -100
    assert drawn.max() > 100


def test_parameters_are_broadcast():
    assert draws.joint_shape([[1.0], [2.0]], [1.0, 2.0, 3.0]) == (2, 3)
