"""Checks of labels in the model function that is traced."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends.tf.graph import Graph, LabelCheck, label_checks, note_check, range_of


@pytest.mark.parametrize(
    ("ranges", "problem"),
    [
        ([[0, 2]], None),
        ([[np.inf, -np.inf]], None),
        ([[1, 2], [2, 3]], "large, but are from 1 to 3. Remedy."),
        ([[0, 2], [-1, 0]], "small, but are from -1 to 2. Remedy."),
    ],
)
def test_what_is_wrong(ranges, problem):
    check = LabelCheck(jnp.zeros(2), 2, "small", "large", "Remedy.")
    assert check.problem(np.array(ranges, np.float32)) == problem


def test_the_range_of_labels():
    assert range_of(jnp.array([[3], [-1]])).tolist() == [-1, 3]
    assert range_of(jnp.zeros((0, 1))).tolist() == [np.inf, -np.inf]


def test_only_what_a_step_has_as_an_output_is_noted():
    def check(labels):
        return LabelCheck(range_of(labels), 2, "small", "large", "Remedy.")

    def step(labels):
        with Graph().as_default():
            note_check(check(labels))
            jax.lax.map(lambda each: note_check(check(each)), labels[:, None])
            assert len(label_checks()) == 1
        note_check(check(labels))
        assert label_checks() == []

    jax.make_jaxpr(step)(np.arange(3))
