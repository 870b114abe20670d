"""What a status asserts, as TensorFlow's does."""

import gc
import logging

import jax.numpy as jnp
import pytest

import spmd
from spmd.checkpoint import Checkpoint


def variable():
    return spmd.Variable(jnp.zeros(2))


def saved(folder, **objects):
    checkpoint = Checkpoint(**objects)
    path = checkpoint.save(folder / "ckpt")
    checkpoint.wait()
    return path


def test_all_matched(tmp_path):
    path = saved(tmp_path, v=variable())
    status = Checkpoint(v=variable()).restore(path)
    assert (
        status.assert_consumed().assert_existing_objects_matched().assert_nontrivial_match()
        is status
    )


def test_a_value_without_an_object(tmp_path):
    path = saved(tmp_path, v=variable(), w=variable())
    status = Checkpoint(v=variable()).restore(path)
    status.assert_existing_objects_matched().assert_nontrivial_match()
    with pytest.raises(
        AssertionError, match=r"Unresolved object in checkpoint \(root\)\.w: float32\[2\]"
    ):
        status.assert_consumed()


def test_an_object_without_a_value(tmp_path):
    path = saved(tmp_path, v=variable())
    status = Checkpoint(v=variable(), w=variable()).restore(path)
    for check in (status.assert_consumed, status.assert_existing_objects_matched):
        with pytest.raises(
            AssertionError, match=r"Found 1 Python objects that were not bound.*\['w'\]"
        ):
            check()


def test_nothing_matched(tmp_path):
    path = saved(tmp_path, v=variable())
    with pytest.raises(AssertionError, match=r"Nothing except the root object matched.*\['w'\]"):
        Checkpoint(w=variable()).restore(path).assert_nontrivial_match()
    with pytest.raises(AssertionError, match="Nothing to load"):
        Checkpoint().restore(path).assert_nontrivial_match()


def test_nothing_to_restore():
    status = Checkpoint(v=variable()).restore(None)
    assert status.expect_partial() is status
    for check in (
        status.assert_consumed,
        status.assert_existing_objects_matched,
        status.assert_nontrivial_match,
    ):
        with pytest.raises(AssertionError, match="No checkpoint specified"):
            check()


def test_an_object_that_is_set_later_gets_its_value(tmp_path):
    path = saved(tmp_path, v=spmd.Variable(jnp.ones(2)))
    checkpoint = Checkpoint()
    status = checkpoint.restore(path)
    checkpoint.v = late = variable()
    assert late.value.tolist() == [1, 1]
    status.assert_consumed()


def test_a_later_restore_replaces_an_earlier_one(tmp_path):
    first = saved(tmp_path, v=spmd.Variable(jnp.ones(2)))
    checkpoint = Checkpoint(other=variable())
    checkpoint.restore(first)
    second = Checkpoint(v=spmd.Variable(jnp.full(2, 2.0))).save(tmp_path / "second")
    checkpoint.restore(second)
    checkpoint.v = late = variable()
    assert late.value.tolist() == [2, 2]


@pytest.mark.parametrize("quiet", [False, True])
def test_values_that_went_nowhere_are_told_of_at_the_end(tmp_path, caplog, quiet):
    path = saved(tmp_path, v=variable(), w=variable())
    checkpoint = Checkpoint(v=variable())
    status = checkpoint.restore(path)
    if quiet:
        status.expect_partial()
    with caplog.at_level(logging.WARNING, "spmd.checkpoint"):
        del checkpoint, status
        gc.collect()
    assert ("ckpt found no object: w." in caplog.text) is not quiet
