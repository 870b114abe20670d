"""Pooling with channels first; other numbers are in tests/golden/scenarios/layers.py."""

import numpy as np
import pytest

from frontends import tf

layers = tf.compat.v1.layers


@pytest.mark.parametrize("kind", ["max", "average"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_channels_may_come_first(kind, rank):
    x = np.random.randn(2, *(5, 6, 4)[:rank], 3).astype(np.float32)
    function = getattr(layers, f"{kind}_pooling{rank}d")
    last = function(x, 2, 2, "same")
    first = function(np.moveaxis(x, -1, 1), 2, 2, "same", data_format="channels_first")
    np.testing.assert_allclose(np.moveaxis(first, 1, -1), last, rtol=1e-6)


def test_whole_numbers_have_a_largest_one():
    x = np.arange(4, dtype=np.int32).reshape(1, 4, 1)
    assert layers.max_pooling1d(x, 2, 2).tolist() == [[[1], [3]]]


def test_strides_are_needed():
    with pytest.raises(TypeError, match="max_pooling2d: missing a required argument: 'strides'"):
        layers.max_pooling2d(np.ones((1, 4, 4, 1), np.float32), 2)
    with pytest.raises(ValueError, match="expected ndim=4, found ndim=3"):
        layers.MaxPooling2D(2, 2)(np.ones((4, 4, 1), np.float32))
