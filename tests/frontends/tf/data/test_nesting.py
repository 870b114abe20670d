"""Datasets of datasets: the examples of TensorFlow's documentation, and what they leave open."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontends.tf.data import UNKNOWN_CARDINALITY, Dataset, DatasetSpec
from frontends.tf.data.spec import TensorSpec


def lists(dataset):
    return [[x.tolist() for x in window] for window in dataset]


def numbers(dataset):
    return [int(x) for x in dataset]


def ragged(*rows):
    return Dataset.from_generator(lambda: map(np.asarray, rows))


# The expected values stand in the documentation of tf.data.Dataset.window.
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"size": 3}, [[0, 1, 2], [3, 4, 5], [6]]),
        ({"size": 3, "drop_remainder": True}, [[0, 1, 2], [3, 4, 5]]),
        (
            {"size": 3, "shift": 2, "stride": 1, "drop_remainder": True},
            [[0, 1, 2], [2, 3, 4], [4, 5, 6]],
        ),
        (
            {"size": 3, "shift": 1, "stride": 2, "drop_remainder": True},
            [[0, 2, 4], [1, 3, 5], [2, 4, 6]],
        ),
        ({"size": 2, "shift": 4}, [[0, 1], [4, 5]]),
        ({"size": 2, "shift": 6}, [[0, 1], [6]]),
    ],
)
def test_windows(arguments, expected):
    windows = Dataset.range(7).window(**arguments)
    assert lists(windows) == lists(windows) == expected
    assert len(windows) == len(expected)


@settings(max_examples=40)
@given(st.integers(0, 12), st.integers(1, 5), st.integers(1, 5), st.integers(1, 3), st.booleans())
def test_windows_hold_what_slices_hold(count, size, shift, stride, drop):
    rows = list(range(count))
    expected = [rows[start::stride][:size] for start in range(0, count, shift)]
    expected = [window for window in expected if len(window) == size or not drop]
    windows = Dataset.range(count).window(size, shift, stride, drop)
    assert lists(windows) == expected
    assert len(windows) == len(expected)


def test_windows_of_structures_are_structures_of_windows():
    rows = Dataset.from_tensor_slices({"x": np.arange(8).reshape(4, 2), "y": ["a", "b", "c", "d"]})
    windows = rows.window(3)
    first = next(iter(windows))
    assert set(first) == {"x", "y"}
    assert lists([first["x"]]) == [[[0, 1], [2, 3], [4, 5]]]
    assert [str(text) for text in first["y"]] == ["a", "b", "c"]
    assert windows.element_spec["x"] == DatasetSpec(TensorSpec((2,), np.int64))


def test_windows_are_mapped_and_flattened():
    windows = Dataset.range(5).window(3, shift=1, drop_remainder=True)
    batches = windows.flat_map(lambda window: window.batch(3))
    assert [batch.tolist() for batch in batches] == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    assert batches.element_spec == TensorSpec((None,), np.int64)
    totals = windows.map(lambda window: window.reduce(np.int64(0), lambda total, x: total + x))
    assert numbers(totals) == [3, 6, 9]
    pairs = Dataset.zip(Dataset.range(4), Dataset.range(10, 14)).window(2)
    zipped = pairs.flat_map(lambda a, b: Dataset.zip(a.batch(2), b.batch(2)))
    assert [(a.tolist(), b.tolist()) for a, b in zipped] == [
        ([0, 1], [10, 11]),
        ([2, 3], [12, 13]),
    ]
    assert lists(windows.window(2).flat_map(lambda w: w).take(1)) == [[0, 1, 2]]


def test_windows_of_unlike_elements():
    (window,) = ragged([1], [2, 2], [3]).window(5)
    assert lists([window]) == [[[1], [2, 2], [3]]]
    assert window.element_spec == TensorSpec((None,), np.int64)


def test_flat_map():
    rows = Dataset.from_tensor_slices([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    flat = rows.flat_map(Dataset.from_tensor_slices)
    assert numbers(flat) == numbers(flat) == list(range(1, 10))
    assert flat.cardinality() == UNKNOWN_CARDINALITY
    assert flat.element_spec == TensorSpec((), np.int32)
    assert numbers(rows.take(0).flat_map(Dataset.from_tensor_slices)) == []
    with pytest.raises(ValueError, match="is empty"):
        _ = rows.take(0).flat_map(Dataset.from_tensor_slices).element_spec


def test_what_is_made_of_a_flat_dataset():
    flat = Dataset.range(4).flat_map(lambda n: Dataset.range(n).map(lambda x: x * 2))
    assert [x.tolist() for x in flat.batch(4)] == [[0, 0, 2, 0], [2, 4]]
    assert numbers(flat.skip(1).shard(2, 0)) == [0, 0, 4]
    assert sorted(numbers(flat.shuffle(10, seed=1).cache().repeat(2))) == sorted(numbers(flat) * 2)


def test_looking_at_the_spec_uses_no_pass_up():
    def make():
        shuffled = Dataset.range(20).shuffle(20, seed=3)
        return shuffled.flat_map(lambda n: Dataset.from_tensors(n))

    looked_at, other = make(), make()
    assert looked_at.element_spec == TensorSpec((), np.int64)
    assert numbers(looked_at) == numbers(other)


def test_interleave():
    """The example of tf.data.Dataset.interleave."""
    dataset = Dataset.range(1, 6).interleave(
        lambda x: Dataset.from_tensors(x).repeat(6), cycle_length=2, block_length=4
    )
    expected = [
        *[1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4],
        *[3, 3, 4, 4, 5, 5, 5, 5, 5, 5],
    ]
    assert numbers(dataset) == numbers(dataset) == expected


def kernel(counts, cycle, block):
    """TensorFlow's InterleaveDataset, state by state; element i comes counts[i] times."""
    waiting, places, place, given, result = iter(enumerate(counts)), [None] * cycle, 0, 0, []
    ended = False
    while not ended or any(p is not None for p in places):
        current = places[place]
        if current is not None:
            if current[1]:
                result.append(current[0])
                current[1] -= 1
                given += 1
                if given < block:
                    continue
            else:
                places[place] = None
            place, given = (place + 1) % cycle, 0
        elif not ended:
            new = next(waiting, None)
            ended = new is None
            places[place] = None if new is None else list(new)
        else:
            place, given = (place + 1) % cycle, 0
    return result


@settings(max_examples=40)
@given(st.lists(st.integers(0, 5), max_size=6), st.integers(1, 4), st.integers(1, 3))
def test_interleave_has_the_order_of_tensorflows_kernel(counts, cycle, block):
    dataset = Dataset.range(len(counts)).interleave(
        lambda i: Dataset.from_tensors(i).repeat(counts[int(i)]), cycle, block
    )
    assert numbers(dataset) == kernel(counts, cycle, block)


def test_interleave_reads_datasets_without_end():
    dataset = Dataset.counter().interleave(lambda n: Dataset.from_tensors(n).repeat(), 2, 1)
    assert numbers(dataset.take(5)) == [0, 1, 0, 1, 0]


def test_functions_must_return_datasets():
    with pytest.raises(TypeError, match=r"flat_map: the function must return a dataset, got int64"):
        list(Dataset.range(2).flat_map(lambda x: x))
    with pytest.raises(TypeError, match="interleave: map_func must be a function"):
        Dataset.range(2).interleave(5)
    with pytest.raises(ValueError, match="interleave: cycle_length must be at least 1"):
        Dataset.range(2).interleave(Dataset.from_tensors, cycle_length=0)
    with pytest.raises(ValueError, match="window: size must be at least 1"):
        Dataset.range(2).window(0)


def test_group_by_window():
    """The example of tf.data.Dataset.group_by_window, and a last group that is not full."""
    dataset = Dataset.range(11).group_by_window(
        key_func=lambda x: x % 2, reduce_func=lambda key, group: group.batch(5), window_size=5
    )
    expected = [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9], [10]]
    assert [x.tolist() for x in dataset] == [x.tolist() for x in dataset] == expected


def test_groups_of_other_sizes_and_in_the_order_of_keys():
    dataset = Dataset.range(9, -1, -1).group_by_window(
        lambda x: int(x) % 3,
        lambda key, group: group.batch(10).map(lambda x: x + 100 * key),
        window_size_func=lambda key: key + 1,
    )
    full = [[9], [6], [107, 104], [3], [208, 205, 202], [0]]
    assert [x.tolist() for x in dataset] == [*full, [101]]
    left = Dataset.range(4, -1, -1).group_by_window(
        lambda x: x % 3, lambda key, group: group.batch(9), window_size=9
    )
    assert [x.tolist() for x in left] == [[3, 0], [4, 1], [2]]
    with pytest.raises(ValueError, match="either window_size or window_size_func, got none"):
        Dataset.range(3).group_by_window(lambda x: x, lambda key, group: group)


def test_bucket_by_sequence_length():
    """The example of tf.data.Dataset.bucket_by_sequence_length."""
    rows = [[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10, 11], [13, 14, 15, 16, 19, 20], [21, 22]]
    dataset = ragged(*rows).bucket_by_sequence_length(
        element_length_func=len, bucket_boundaries=[3, 5], bucket_batch_sizes=[2, 2, 2]
    )
    assert [batch.tolist() for batch in dataset] == [
        [[1, 2, 3, 4], [5, 6, 7, 0]],
        [[7, 8, 9, 10, 11, 0], [13, 14, 15, 16, 19, 20]],
        [[0, 0], [21, 22]],
    ]
    with pytest.raises(ValueError, match="2 boundaries make 3 buckets"):
        ragged([1]).bucket_by_sequence_length(len, [3, 5], [2, 2])


def test_buckets_without_padding():
    rows = [[1], [2, 2], [3], [4, 4]]
    dataset = ragged(*rows).bucket_by_sequence_length(len, [2], [2, 2], no_padding=True)
    assert [batch.tolist() for batch in dataset] == [[[1], [3]], [[2, 2], [4, 4]]]


def test_a_window_is_read_many_times():
    windows = list(Dataset.range(4).window(2))
    assert lists(windows) == lists(windows)
    assert list(itertools.chain(*lists(windows))) == [0, 1, 2, 3]
