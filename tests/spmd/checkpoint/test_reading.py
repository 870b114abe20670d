"""Arrays are read by name, without the objects."""

import jax
import numpy as np
import pytest

import spmd
from spmd.checkpoint import Checkpoint, CheckpointNotFoundError, list_arrays, read_array


def test_arrays_are_listed_and_read(tmp_path):
    key = jax.random.key(1)
    mirrored = spmd.Variable(np.arange(3.0, dtype=np.float32))
    path = Checkpoint(mirrored=mirrored, key=key, step=3).save(tmp_path / "ckpt")
    found = {entry.name: read_array(path, entry) for entry in _listed(path)}
    assert set(found) == {"mirrored", "key"}
    np.testing.assert_array_equal(found["mirrored"], [0, 1, 2])
    np.testing.assert_array_equal(found["key"], jax.random.key_data(key))


def _listed(path):
    spmd.checkpoint.wait_for_saves()
    return list_arrays(path)


def test_a_path_without_a_checkpoint(tmp_path):
    with pytest.raises(CheckpointNotFoundError, match="no checkpoint at"):
        list_arrays(str(tmp_path / "none"))
