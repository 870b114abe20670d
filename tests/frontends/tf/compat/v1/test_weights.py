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


@pytest.mark.parametrize(
    ("labels", "predictions", "advice"),
    [
        ((4,), (2, 2), r"tf\.reshape\(labels, predictions\.shape\)"),
        ((2,), (3,), "They have 2 and 3 rows"),
        ((4,), (4, 3), r"tf\.one_hot\(tf\.cast\(labels, tf\.int32\), 3\)"),
        ((4, 1), (4, 3), r"tf\.one_hot\(tf\.cast\(labels\[\.\.\., 0\], tf\.int32\), 3\)"),
        ((4, 3), (4,), r"tf\.argmax\(labels, -1\).* 3 units"),
        ((4, 3), (4, 5), "Give both the same shape"),
        ((), (4,), r"tf\.one_hot\("),
    ],
)
def test_labels_need_the_shape_of_predictions(labels, predictions, advice):
    require_shape("f", jnp.zeros(3), jnp.zeros(3))
    with pytest.raises(ValueError, match=rf"f: shapes \({predictions[0]},.*{advice}"):
        require_shape("f", jnp.zeros(labels), jnp.zeros(predictions))


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
        weights = valid_weights(None, batch)
        assert weights.shape == (2, 3)
        return spmd.all_reduce(weights.sum())

    batches = list(spmd.distribute(np.ones((7, 3), np.float32), mesh, batch_size=4))
    assert [int(spmd.Step(step, mesh)(batch)) for batch in batches] == [12, 9]


def test_outside_of_a_step_all_rows_count():
    assert valid_weights(np.array([1.0, 2.0, 0.0]), jnp.zeros((3, 2))).tolist() == [[1, 1], [2, 2], [0, 0]]  # fmt: skip
