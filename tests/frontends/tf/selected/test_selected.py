"""`Selected`: operators, items, and errors where an array is needed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf.selected.making import masked
from frontends.tf.selected.selection import SelectionError

_X = np.arange(6, dtype=np.float32).reshape(3, 2)


def in_program(function):
    """Calls a function in a program, with what a mask takes there."""
    return jax.jit(lambda x, mask: function(masked(x, mask)))(
        jnp.asarray(_X), jnp.asarray([True, False, True])
    )


def test_operators_of_both_sides():
    def compute(taken):
        total = 1 + taken * np.float32(2) - np.ones(2, np.float32) * taken + jnp.ones(2) * -taken
        return tf.reduce_sum(total), tf.reduce_any(taken >= 5), tf.reduce_all(taken != 2)

    total, some, every = in_program(compute)
    assert (float(total), bool(some), bool(every)) == (4, True, True)


def test_items():
    assert in_program(lambda taken: tf.reduce_sum(taken[:, 1])).tolist() == 6
    assert in_program(lambda taken: tf.reduce_sum(taken[..., None, :1])).tolist() == 4
    with pytest.raises(SelectionError, match="a part of an axis"):
        in_program(lambda taken: taken[0])


def test_shape_and_type():
    def check(taken):
        assert taken.shape.as_list() == taken.get_shape().as_list() == [None, 2]
        assert taken.dtype == tf.float32
        assert (taken.ndim, tf.is_tensor(taken)) == (2, True)
        assert "shape=(None, 2)" in repr(taken)
        return 0

    in_program(check)


@pytest.mark.parametrize(
    "use", [len, list, bool, np.asarray, jnp.asarray, lambda taken: tf.image.rot90(taken)]
)
def test_what_needs_an_array(use):
    with pytest.raises(SelectionError, match=r"known only when the program runs.*tf\.where\(mask"):
        in_program(use)
