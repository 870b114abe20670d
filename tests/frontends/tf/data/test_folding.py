"""`reduce`, `scan`, `take_while`, `unique` and `get_single_element`, by TensorFlow's documentation."""

import numpy as np
import pytest

from frontends.tf.data import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset
from frontends.tf.data.spec import TensorSpec


def numbers(dataset):
    return [int(x) for x in dataset]


def test_reduce():
    # Both stand in the documentation of Dataset.reduce.
    assert Dataset.range(5).reduce(np.int64(0), lambda x, _: x + 1) == 5
    assert Dataset.range(5).reduce(np.int64(0), lambda x, y: x + y) == 10
    assert Dataset.range(0).reduce(7, lambda x, y: x + y) == 7


def test_reduce_gives_tensors():
    total = Dataset.from_tensor_slices([8, 3]).reduce(0, lambda state, value: state + value)
    assert (total.numpy(), total.dtype) == (11, np.int32)
    both = Dataset.range(3).reduce((0.0, b""), lambda state, _: (state[0] + 1.0, state[1]))
    assert [one.numpy() for one in both] == [3.0, b""]


def test_reduce_of_structures_gives_elements_as_one_argument():
    pairs = Dataset.from_tensor_slices({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    state = pairs.reduce(
        {"count": 0, "dot": 0.0},
        lambda s, e: {"count": s["count"] + 1, "dot": s["dot"] + e["x"] * e["y"]},
    )
    assert state == {"count": 2, "dot": 11.0}
    zipped = Dataset.zip(Dataset.range(3), Dataset.range(3))
    assert zipped.reduce(0, lambda total, pair: total + pair[0] * pair[1]) == 5
    first, second = zipped.reduce((0, 1), lambda s, pair: (s[0] + pair[0], s[1] + pair[1]))
    assert (first, second) == (3, 4)


def test_reduce_calls_functions_that_do_not_trace():
    assert Dataset.range(5).reduce(0, lambda best, x: max(int(best), int(x))) == 4
    words = Dataset.from_tensor_slices(["a", "bc"])
    assert str(words.reduce("", lambda total, word: f"{total}{word}")) == "abc"


def test_a_compiled_reduce_is_called_a_few_times_altogether():
    calls = []

    def add(total, x):
        calls.append(1)
        return total + x

    assert Dataset.range(100).reduce(0, add) == 4950
    assert len(calls) < 5


def test_the_state_stays_what_it_is():
    with pytest.raises(TypeError, match=r"reduce: the state is int32 .* returned float32"):
        Dataset.range(3).reduce(0, lambda total, x: total + x / 2)
    with pytest.raises(TypeError, match="same tuple or dict keys"):
        Dataset.range(3).reduce(0, lambda total, x: (total, x))
    with pytest.raises(TypeError, match="reduce: reduce_func must be a function"):
        Dataset.range(3).reduce(0, 1)


def test_scan():
    """The example of Dataset.scan: a cumulative sum."""
    scanned = Dataset.range(10).scan(np.int64(0), lambda s, x: (s + x, s + x))
    expected = [0, 1, 3, 6, 10, 15, 21, 28, 36, 45]
    assert numbers(scanned) == numbers(scanned) == expected
    assert len(scanned) == 10
    assert scanned.element_spec == TensorSpec((), np.int32)


def test_scan_of_other_elements():
    batches = Dataset.range(5).batch(2)
    scanned = batches.scan((0, 1), lambda s, x: ((s[0] + 1, s[1]), {"x": x, "n": s[0]}))
    assert [(x["x"].tolist(), int(x["n"])) for x in scanned] == [([0, 1], 0), ([2, 3], 1), ([4], 2)]
    assert scanned.element_spec["x"].shape[-1] is None
    with pytest.raises(TypeError, match="scan: the function must return a pair"):
        list(Dataset.range(3).scan(0, lambda s, x: s + x))


def test_take_while():
    dataset = Dataset.range(10).take_while(lambda x: x < 5)
    assert numbers(dataset) == [0, 1, 2, 3, 4]
    assert dataset.cardinality() == UNKNOWN_CARDINALITY
    assert numbers(Dataset.counter().take_while(lambda x: x < 3).cache().repeat(2)) == [0, 1, 2] * 2
    pairs = Dataset.zip(Dataset.range(5), Dataset.range(5)).take_while(lambda a, b: a + b < 4)
    assert len(list(pairs)) == 2
    with pytest.raises(TypeError, match="one boolean"):
        list(Dataset.range(3).take_while(lambda x: x))


def test_unique():
    # The expected values stand in the documentation of Dataset.unique.
    dataset = Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()
    assert numbers(dataset) == numbers(dataset) == [1, 37, 2]
    assert [str(x) for x in Dataset.from_tensor_slices(["a", "bb", "a"]).unique()] == ["a", "bb"]
    rows = Dataset.from_tensor_slices(([[1, 2], [1, 2], [2, 1]], [0, 1, 0]))
    assert len(list(rows.unique())) == 3
    assert len(list(rows.map(lambda x, _: x).unique())) == 2
    words = Dataset.from_generator(lambda: iter([["a", "b"], ["a", "bb"], ["a", "b"]])).unique()
    assert [x.tolist() for x in words] == [["a", "b"], ["a", "bb"]]
    assert Dataset.range(2).repeat().unique().cardinality() == INFINITE_CARDINALITY


def test_get_single_element():
    assert Dataset.from_tensors([1, 2]).get_single_element().tolist() == [1, 2]
    with pytest.raises(ValueError, match="this one has none"):
        Dataset.range(0).get_single_element()
    with pytest.raises(ValueError, match="this one has more"):
        Dataset.counter().get_single_element()
