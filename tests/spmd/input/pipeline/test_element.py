"""Elements: what Python values become, and how they are stacked, split and copied."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from spmd.input.pipeline import element as elements


def test_to_element():
    found = elements.to_element(
        {
            "a": 1,
            "b": [1.0, 2],
            "c": (jnp.ones(2), np.arange(2)),
            "d": "text",
            "e": b"\0",
            "f": None,
        }
    )
    assert found["a"].dtype == np.int32
    assert found["b"].dtype == np.float32
    assert isinstance(found["c"][0], np.ndarray)
    assert found["c"][1].dtype == np.int64
    assert isinstance(found["d"], np.str_)
    assert found["e"] == b"\0"
    assert found["f"] is None
    assert elements.to_element(1.5, narrow=False).dtype == np.float64
    assert type(elements.to_element(np.array(3))) is np.int64


def test_ragged_lists_are_refused():
    with pytest.raises(ValueError, match="inhomogeneous"):
        elements.to_element([[1], [2, 3]])


def test_canonicalize():
    leaves = (
        np.float64(1), np.int64(-1), np.uint64(1), np.complex128(1), np.uint8(1),
        ml_dtypes.bfloat16(1), np.str_("a"), b"a",
    )  # fmt: skip
    found = elements.canonicalize(leaves)
    names = ["float32", "int32", "uint32", "complex64", "uint8", "bfloat16"]
    assert [str(leaf.dtype) for leaf in found[:6]] == names
    assert found[6:] == ("a", b"a")
    with jax.enable_x64(True):
        assert elements.canonicalize(np.float64(1)).dtype == np.float64
    with pytest.raises(OverflowError, match="uint64 values from 0 to 4294967296"):
        elements.canonicalize(np.array([0, 2**32], np.uint64))
    assert elements.canonicalize(np.empty(0, np.int64)).dtype == np.int32


def test_stack_and_split_undo_each_other():
    rows = [(np.float32(i), {"a": np.full((2, 2), i)}, b"x" * i) for i in range(3)]
    batch = elements.stack(rows)
    assert batch[1]["a"].shape == (3, 2, 2)
    for row, again in zip(rows, elements.split(batch), strict=True):
        jax.tree.map(np.testing.assert_array_equal, row, again)


def test_stack_of_other_objects():
    objects = elements.stack([object(), [1, 2][0:0] or object()])
    assert objects.dtype == object
    assert objects.shape == (2,)


def test_copies():
    array = np.zeros(2)
    locked = elements.snapshot({"a": array})["a"]
    assert not locked.flags.writeable
    assert array.flags.writeable
    assert elements.writable(locked).flags.writeable
    assert elements.writable(array) is array
    assert not np.shares_memory(elements.owned(array), array)


def test_component_names():
    assert elements.component_names({"a": (1, 2)}) == ["['a'][0]", "['a'][1]"]
    assert elements.component_names(1) == ["the element"]


def test_large_elements_are_stacked_as_they_are_made():
    made = []

    def rows(count):
        for number in range(count):
            made.append(number)
            yield np.full((200, 100), number, np.float32), np.int32(number), f"{number}".encode()

    images, numbers, texts = elements.stack_as_made(rows(3), 3)
    assert images.shape == (3, 200, 100)
    assert images[:, 0, 0].tolist() == numbers.tolist() == [0, 1, 2]
    assert texts.tolist() == [b"0", b"1", b"2"]
    assert numbers.dtype == np.int32


def test_an_element_of_another_shape_is_named():
    rows = [np.zeros((200, 100)), np.zeros((200, 100)), np.zeros((200, 99))]
    with pytest.raises(
        ValueError, match=r"\(200, 100\) in element 0 of the batch, \(200, 99\) in element 2"
    ):
        elements.stack_as_made(iter(rows), 3)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.timedelta64(1, "h"), np.timedelta64(90, "m")),
        (np.datetime64("2020-01-01"), np.datetime64("2020-01-01T01:02:03")),
        (np.zeros((), [("a", "i4")])[()], np.zeros((), [("b", "i4")])[()]),
    ],
)
def test_scalars_of_other_units_do_not_stack(one, other):
    assert elements.stack([one, one]).tolist() == [one.tolist()] * 2
    with pytest.raises(TypeError, match="cannot stack the element: dtype"):
        elements.stack([one, other])


def test_a_table_of_classes_that_another_thread_clears(monkeypatch):
    class Cleared(dict):
        def __setitem__(self, key, value):
            pass

    class Rows:
        row_count = ndim = 1
        stacked = rows = described = print

    monkeypatch.setattr(elements, "_KNOWN_STACKABLE", Cleared())
    assert elements.is_stackable(Rows()) is isinstance(Rows(), elements.Stackable) is True
