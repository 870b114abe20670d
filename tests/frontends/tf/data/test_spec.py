"""Element specs: what tracing tells, and which sizes stay unknown."""

import jax.numpy as jnp
import numpy as np
import pytest

from frontends.tf.data import spec as specs
from frontends.tf.data.spec import TensorSpec


def test_tensor_spec():
    spec = TensorSpec([None, 2], jnp.float32, "x")
    assert spec == TensorSpec((None, 2), np.float32, "x")
    assert repr(spec) == "TensorSpec(shape=(None, 2), dtype=float32, name='x')"
    assert hash(spec) == hash(TensorSpec((None, 2), "float32", "x"))
    assert TensorSpec(None, str).shape is None


def test_traced_keeps_unknown_sizes_unknown():
    spec = {"x": TensorSpec((None, 3), np.uint8), "y": TensorSpec((None,), np.int64)}
    found = specs.traced(lambda e: (e["x"] / 2, e["x"].sum(0), e["y"], e["x"].reshape(-1)), spec)
    assert found == (
        TensorSpec((None, 3), np.float32),
        TensorSpec((3,), np.uint32),
        TensorSpec((None,), np.int32),
        TensorSpec((None,), np.uint8),
    )


def test_batched_and_unbatched():
    spec = (TensorSpec((3,)), TensorSpec(None))
    assert specs.batched(spec, 4) == (TensorSpec((4, 3)), TensorSpec(None))
    assert specs.unbatched(specs.batched(spec, None)) == spec


def test_relaxed():
    a, b = {"x": TensorSpec((2, 3))}, {"x": TensorSpec((2, 4))}
    assert specs.relaxed(a, b) == {"x": TensorSpec((2, None))}
    assert specs.relaxed(a, {"x": TensorSpec((2,))}) == {"x": TensorSpec(None)}
    assert specs.relaxed(TensorSpec((), "U1"), TensorSpec((), "U3")).dtype == "U3"
    with pytest.raises(TypeError, match=r"\['x'\] is float32 .* int32"):
        specs.relaxed(a, {"x": TensorSpec((2, 3), np.int32)})
    with pytest.raises(TypeError, match="same structure"):
        specs.relaxed(a, TensorSpec(()))


def test_spec_of():
    found = specs.spec_of((np.float32(1), np.zeros((2, 3)), b"x"))
    assert found == (TensorSpec(()), TensorSpec((2, 3), np.float64), TensorSpec((), object))
