"""Names of classes: numbers in a program, texts on the host."""

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.feature_column.class_names import ClassNames, all_ids, of_numbers


def test_the_host_has_the_texts_that_a_program_chose():
    def program(ids):
        return ClassNames(ids + 1, of_numbers(4))

    found = jax.jit(program)(jnp.array([[0], [2]]))
    assert np.asarray(found).tolist() == [[b"1"], [b"3"]]
    assert (found.shape, found.ndim, len(found), found.dtype.name) == ((2, 1), 2, 2, "string")
    assert np.asarray(found[1]).tolist() == [b"3"]


def test_texts_are_read_like_those_of_a_tensor():
    names = ClassNames(jnp.array([1, 0]), ("no", "yes"))
    assert names.numpy().tolist() == [b"yes", b"no"]
    assert [name.numpy() for name in names] == [b"yes", b"no"]


def test_all_classes_are_listed_for_each_row():
    assert all_ids(2, 3).tolist() == [[0, 1, 2]] * 2
