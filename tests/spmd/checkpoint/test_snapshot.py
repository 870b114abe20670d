"""A snapshot holds the state of one moment."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from spmd import Variable
from spmd.checkpoint import Checkpoint, CheckpointError
from spmd.checkpoint.snapshot import fingerprints, take_snapshot


def test_kinds_values_and_arrays():
    snapshot = take_snapshot(
        Checkpoint(v=Variable({"x": jnp.zeros(2)}), key=jax.random.key(0), n=3)
    )
    kinds = {node.path: (node.kind, node.value) for node in snapshot.nodes}
    assert kinds == {
        "": ("node", None),
        "v": ("arrays", None),
        "key": ("arrays", None),
        "n": ("value", 3),
    }
    assert {name: str(array.dtype) for name, array in snapshot.arrays.items()} == {
        "v/x": "float32",
        "key": "uint32",
    }


def test_fingerprints_show_kinds_shapes_and_values_and_no_contents():
    def of(**objects):
        return fingerprints(take_snapshot(Checkpoint(**objects)).nodes)

    assert of(a=np.zeros(2), b=1) == of(a=np.ones(2), b=1)
    assert of(a=np.zeros(2))["a"] != of(a=np.zeros(3))["a"] != of(a=[1])["a"]
    assert of(b=1)["b"] != of(b=2)["b"]


def test_an_array_of_strings_is_refused():
    with pytest.raises(CheckpointError, match=r"cannot keep names, an array of <U1.*Keep strings"):
        take_snapshot(Checkpoint(names=np.array(["a"])))
