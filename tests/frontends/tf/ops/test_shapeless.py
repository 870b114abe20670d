"""Results of the host whose shape comes later."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends.tf.ops.shapeless import HostCall, ShapelessResult


def test_the_call_is_made_once_all_shapes_are_known():
    calls = []

    def call(specs):
        calls.append([spec.shape for spec in specs])
        return [jnp.zeros(spec.shape, spec.dtype) for spec in specs]

    host = HostCall("tf.f", call, [None, (3,)], [np.dtype("float32"), np.dtype("int32")])
    first, second = (ShapelessResult(host, index) for index in range(2))
    with pytest.raises(ValueError, match=r"y\.set_shape\(\[2, 3\]\)"):
        second + 1
    for shape in (None, [None]):
        with pytest.raises(ValueError, match="whole shape"):
            first.set_shape(shape)
    first.set_shape([2])
    with pytest.raises(ValueError, match="already"):
        second.set_shape([4])
    assert (first.shape, (second + 1).tolist(), first[0]) == ((2,), [1, 1, 1], 0)
    assert calls == [[(2,), (3,)]]
