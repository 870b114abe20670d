"""Batches before they are placed: what has rows, and what devices can hold."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import spmd
from spmd.input.batch import in_groups, integers_fit, leaf_name, read_batch
from spmd.typing import PyTree


def test_a_batch_can_be_put_together_again() -> None:
    tree = {"x": np.ones((4, 3)), "y": (jnp.arange(4), np.zeros(4, bool))}
    batch = read_batch(tree)
    assert batch.rows == 4
    jax.tree.map(np.testing.assert_array_equal, batch.rebuild(batch.leaves), tree)


def test_an_owned_batch_does_not_change_with_its_source() -> None:
    array = np.zeros(2)
    owned = read_batch(array).owned()
    array[:] = 1
    assert np.asarray(owned.leaves[0]).tolist() == [0, 0]


def test_descriptions_of_arrays_have_rows_too() -> None:
    assert read_batch(jax.ShapeDtypeStruct((8, 3), jnp.float32)).rows == 8


@pytest.mark.parametrize(
    ("tree", "match"),
    [
        ((), "this one has no array"),
        ({"x": np.float32(1)}, r"batch\['x'\] is a scalar"),
        ({"x": np.ones(2), "y": np.ones(3)}, r"batch\['x'\] has 2 and batch\['y'\] has 3"),
        ([np.array(["text"])], r"batch\[0\] has elements of type <U4"),
    ],
)
def test_what_is_not_a_batch(tree: PyTree, match: str) -> None:
    with pytest.raises(spmd.errors.BatchError, match=match):
        read_batch(tree)


def test_leaves_are_named_by_their_paths() -> None:
    assert leaf_name({"a": [0, {"b": 1}]}, 1) == "batch['a'][1]['b']"


def test_groups_of_several_sizes_with_and_without_the_rest() -> None:
    assert list(in_groups("abcde", [2, 1])) == [["a", "b"], ["c"], ["d", "e"]]
    assert list(in_groups("abcd", [3], drop_remainder=True)) == [["a", "b", "c"]]
    assert list(in_groups("", [3])) == []


def test_integers_that_fit() -> None:
    wide = np.array([0, 2**31 - 1])
    assert integers_fit(wide, np.dtype(np.int32))
    assert not integers_fit(wide + 1, np.dtype(np.int32))
    assert integers_fit(np.float64(1e300), np.dtype(np.float32))
    assert integers_fit(np.empty(0, np.int64), np.dtype(np.int32))


def test_texts_and_scalars_where_they_may_be() -> None:
    batch = read_batch(
        {"a": np.float32(1), "n": np.array(["x", "yy"]), "x": np.ones(2)}, texts=True, scalars=True
    )
    assert (batch.rows, batch.scalars) == (2, (0,))
    assert (batch.leaves[1].dtype, batch.owned().scalars) == (object, (0,))
    assert read_batch(np.int32(3), scalars=True).rows == 1
    with pytest.raises(spmd.errors.BatchError, match=r"batch\['x'\] has 2 and batch\['y'\] has 3"):
        read_batch({"a": np.float32(1), "x": np.ones(2), "y": np.ones(3)}, scalars=True)
    with pytest.raises(spmd.errors.BatchError, match="elements of type object"):
        read_batch(np.array([{}, {}]), texts=True)
