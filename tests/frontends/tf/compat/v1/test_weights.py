"""Shapes of labels, predictions and weights; rows of padding."""

import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from frontends.tf.compat.v1._weights import (
    broadcastable,
    fitted,
    require_shape,
    squeezed,
    valid,
    valid_weights,
)


@pytest.mark.parametrize(
    ("labels", "predictions", "extra_axes", "expected"),
    [
        ((4,), (4, 1), 0, ((4,), (4,))),
        ((4, 1), (4,), 0, ((4,), (4,))),
        ((4, 1), (4, 1), 0, ((4, 1), (4, 1))),
        ((4,), (4, 3), 0, ((4,), (4, 3))),
        ((4, 1), (4, 3), 1, ((4,), (4, 3))),
        ((4,), (4, 1), 1, ((4,), (4, 1))),
    ],
)
def test_squeezed(labels, predictions, extra_axes, expected):
    found = squeezed(np.zeros(labels), np.zeros(predictions), extra_axes)
    assert tuple(one.shape for one in found) == expected


def test_labels_need_the_shape_of_predictions():
    require_shape("f", jnp.zeros(3), jnp.zeros(3))
    with pytest.raises(ValueError, match=r"f: shapes \(3,\) of predictions and \(2,\) of labels"):
        require_shape("f", jnp.zeros(2), jnp.zeros(3))


def test_weights_get_or_lose_an_axis():
    values = jnp.zeros((4, 3))
    assert fitted(np.ones(4), values).shape == (4, 1)
    assert fitted(np.ones((4, 3, 1)), values).shape == (4, 3)
    assert fitted(2, values).shape == ()
    with pytest.raises(ValueError, match="weights can not be broadcast"):
        fitted(np.ones(3), values)


def test_weights_that_do_not_fit_are_refused():
    values = jnp.zeros((4, 3))
    assert broadcastable(np.ones((1, 3), np.int32), values).dtype == jnp.float32
    for shape in ((4,), (3, 4), (4, 3, 1)):
        with pytest.raises(ValueError, match="weights can not be broadcast to values"):
            broadcastable(np.ones(shape), values)


def test_padding_weighs_nothing(mesh_of):
    mesh = mesh_of(2)

    def step(batch):
        flags, weights = valid(batch), valid_weights(None, batch)
        other = valid(jnp.zeros((9, 2)))
        assert (flags.shape, weights.shape, other.shape) == ((2, 1), (2, 3), ())
        return spmd.all_reduce(flags.sum()), spmd.all_reduce(weights.sum())

    batches = list(spmd.distribute(np.ones((7, 3), np.float32), mesh, batch_size=4))
    found = [tuple(map(int, spmd.Step(step, mesh)(batch))) for batch in batches]
    assert found == [(4, 12), (3, 9)]


def test_outside_of_a_step_all_rows_count():
    assert valid(jnp.zeros((3, 2)))
    assert valid_weights(np.array([1.0, 2.0, 0.0]), jnp.zeros((3, 2))).tolist() == [[1, 1], [2, 2], [0, 0]]  # fmt: skip
