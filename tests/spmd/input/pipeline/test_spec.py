"""Element specs: what tracing tells, and which sizes stay unknown."""

import jax.numpy as jnp
import numpy as np
import pytest

from spmd.input.pipeline import spec as specs
from spmd.input.pipeline.spec import (
    ArraySpec,
    StackableSpec,
    batch_spec,
    common_spec,
    row_spec,
)

F32 = np.dtype(np.float32)


def test_array_spec():
    spec = ArraySpec([None, 2], jnp.float32)
    assert spec == ArraySpec((None, 2), F32)
    assert hash(spec) == hash(ArraySpec((None, 2), "float32"))
    assert ArraySpec(None, str).shape is None


def test_traced_keeps_unknown_sizes_unknown():
    spec = {"x": ArraySpec((None, 3), np.uint8), "y": ArraySpec((None,), np.int64)}
    found = specs.result_spec(
        lambda e: (e["x"] / 2, e["x"].sum(0), e["y"], e["x"].reshape(-1)), spec
    )
    assert found == (
        ArraySpec((None, 3), np.float32),
        ArraySpec((3,), np.uint32),
        ArraySpec((None,), np.int32),
        ArraySpec((None,), np.uint8),
    )


def test_batched_and_unbatched():
    spec = (ArraySpec((3,), F32), ArraySpec(None, F32))
    assert specs.batch_spec(spec, 4) == (ArraySpec((4, 3), F32), ArraySpec(None, F32))
    assert specs.row_spec(specs.batch_spec(spec, None)) == spec


def test_relaxed():
    a, b = {"x": ArraySpec((2, 3), F32)}, {"x": ArraySpec((2, 4), F32)}
    assert specs.common_spec(a, b) == {"x": ArraySpec((2, None), F32)}
    assert specs.common_spec(a, {"x": ArraySpec((2,), F32)}) == {"x": ArraySpec(None, F32)}
    assert specs.common_spec(ArraySpec((), "U1"), ArraySpec((), "U3")).dtype == "U3"
    with pytest.raises(TypeError, match=r"\['x'\] is float32 .* int32"):
        specs.common_spec(a, {"x": ArraySpec((2, 3), np.int32)})
    with pytest.raises(TypeError, match="same structure"):
        specs.common_spec(a, ArraySpec((), F32))


def test_spec_of():
    found = specs.spec_of((np.float32(1), np.zeros((2, 3)), b"x"))
    assert found == (ArraySpec((), F32), ArraySpec((2, 3), np.float64), ArraySpec((), object))


def test_what_is_stackable_is_described_by_its_class():
    known = StackableSpec(list, (None, 3), np.dtype(np.int32), 1)
    spec = ArraySpec((), np.dtype(object), known)
    batch = batch_spec(spec, 2)
    assert batch == ArraySpec((2,), np.dtype(object))
    assert batch.stackable == StackableSpec(list, (2, None, 3), np.dtype(np.int32), 2)
    assert row_spec(batch).stackable == known
    other = ArraySpec((), np.dtype(object), StackableSpec(list, (4, 3), np.dtype(np.int32), 1))
    assert common_spec(spec, other).stackable == known
    flat = ArraySpec((), np.dtype(object), StackableSpec(list, (4, 3), np.dtype(np.int32), 0))
    assert common_spec(spec, flat).stackable is None
    assert common_spec(spec, ArraySpec((), np.dtype(object))).stackable is None
