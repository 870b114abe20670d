"""The methods that change elements: map, filter, batch and its kin, enumerate and apply."""

import sys

import numpy as np
import pytest

from frontends.tf.data import AUTOTUNE, UNKNOWN_CARDINALITY, Dataset
from frontends.tf.data.spec import TensorSpec


def generated(n):
    return Dataset.from_generator(lambda: iter(range(n)))


def python_calls(function):
    """Counts the Python functions that are called while `function` runs."""
    calls = 0

    def count(frame, event, arg):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


def pipeline(rows):
    """100 batches of any size, through everything that works on row numbers."""
    data = {"x": np.zeros((rows, 3), np.float32), "y": np.arange(rows)}
    dataset = Dataset.from_tensor_slices(data)
    dataset = Dataset.zip(dataset.shuffle(rows // 2, seed=1), Dataset.range(rows)).enumerate()
    dataset = dataset.shuffle(rows).repeat(3).shard(2, 1).skip(rows // 10).take(rows)
    dataset = dataset.concatenate(dataset)
    return dataset.batch(rows // 50)


class TestBatch:
    def test_no_python_call_per_row(self):
        list(pipeline(500))
        few, many = (python_calls(lambda n=n: list(pipeline(n))) for n in (500, 50_000))
        assert few == pytest.approx(many, rel=0.02)

    @pytest.mark.parametrize("source", [Dataset.range, generated])
    def test_remainder(self, source):
        assert [x.tolist() for x in source(5).batch(2)] == [[0, 1], [2, 3], [4]]
        assert [x.tolist() for x in source(5).batch(2, drop_remainder=True)] == [[0, 1], [2, 3]]
        assert [x.tolist() for x in source(2).batch(np.int64(5))] == [[0, 1]]
        assert list(source(0).batch(2)) == []

    @pytest.mark.parametrize("source", [Dataset.range, generated])
    def test_batches_of_batches(self, source):
        read = list(source(7).batch(2, drop_remainder=True).batch(2))
        assert [x.tolist() for x in read] == [[[0, 1], [2, 3]], [[4, 5]]]

    def test_structures(self):
        dataset = Dataset.from_generator(lambda: iter([{"a": (1, [2, 3])}, {"a": (4, [5, 6])}]))
        (batch,) = dataset.batch(2)
        assert batch["a"][0].tolist() == [1, 4]
        assert batch["a"][1].tolist() == [[2, 3], [5, 6]]

    def test_unlike_shapes_name_the_component(self):
        rows = [{"x": np.zeros(2), "y": np.zeros(n)} for n in (1, 1, 2)]
        with pytest.raises(
            ValueError, match=r"\['y'\]: shape \(1,\) in element 0 .* \(2,\) in element 2"
        ):
            list(Dataset.from_generator(lambda: iter(rows)).batch(3))

    def test_unlike_dtypes_and_structures(self):
        with pytest.raises(
            TypeError, match="int32 in element 0 of the batch, float32 in element 1"
        ):
            list(Dataset.from_generator(lambda: iter([1, 2.0])).batch(2))
        with pytest.raises(TypeError, match="different structures"):
            list(Dataset.from_generator(lambda: iter([1, (2, 3)])).batch(2))

    def test_text_of_any_length_stacks(self):
        (batch,) = Dataset.from_generator(lambda: iter(["a", "bcd"])).batch(2)
        assert batch.tolist() == ["a", "bcd"]

    @pytest.mark.parametrize("size", [0, -3])
    def test_size_is_checked(self, size):
        with pytest.raises(ValueError, match=f"batch_size must be at least 1, got {size}"):
            Dataset.range(3).batch(size)
        with pytest.raises(TypeError, match="batch_size must be an integer"):
            Dataset.range(3).batch("2")  # pyright: ignore[reportArgumentType]


class TestUnbatch:
    @pytest.mark.parametrize("source", [Dataset.range, generated])
    def test_undoes_batch(self, source):
        dataset = source(7).batch(3).unbatch()
        assert list(dataset) == list(range(7))
        assert [x.tolist() for x in dataset.batch(4)] == [[0, 1, 2, 3], [4, 5, 6]]

    def test_rows_stay_rows(self):
        calls = [
            python_calls(lambda n=n: list(Dataset.range(n).batch(n // 9).unbatch().batch(n // 5)))
            for n in (90, 9000)
        ]
        assert calls[0] == pytest.approx(calls[1], abs=10)

    def test_of_endless_batches(self):
        dataset = Dataset.range(3).batch(2).repeat().unbatch().cache()
        assert list(dataset.take(7)) == [0, 1, 2, 0, 1, 2, 0]

    def test_rows_with_an_axis(self):
        rows = Dataset.from_tensor_slices((np.arange(6).reshape(3, 2), np.arange(6).reshape(3, 2)))
        assert list(rows.unbatch()) == [(i, i) for i in range(6)]
        assert rows.unbatch().cardinality() == UNKNOWN_CARDINALITY

    def test_scalars(self):
        with pytest.raises(ValueError, match=r"(?s)\[1\] is a scalar.*leave unbatch\(\) out"):
            list(Dataset.from_tensors(([1, 2], 3)).unbatch())

    def test_unequal_lengths(self):
        with pytest.raises(ValueError, match=r"\[0\] has 2 .*\[1\] has 3"):
            list(Dataset.from_tensors(([1, 2], [3, 4, 5])).unbatch())


class TestFilter:
    @pytest.mark.parametrize("source", [Dataset.range, generated])
    @pytest.mark.parametrize("odd", [lambda x: x % 2 == 1, lambda x: bool(int(x) % 2)])
    def test_keeps_what_holds(self, source, odd):
        assert list(source(6).filter(odd)) == [1, 3, 5]
        assert [x.tolist() for x in source(6).filter(odd).batch(2)] == [[1, 3], [5]]

    def test_tuples_are_spread(self):
        pairs = Dataset.zip(Dataset.range(4), Dataset.range(4, 0, -1))
        assert list(pairs.filter(lambda a, b: a > b)) == [(3, 1)]

    def test_untouched_dtypes(self):
        assert next(iter(Dataset.range(3).filter(lambda x: x > 1))).dtype == np.int64

    def test_large_rows_are_looked_at_a_few_at_a_time(self):
        rows = Dataset.from_tensor_slices(np.arange(12 * 2**20, dtype=np.uint8).reshape(6, 2**21))
        assert len(list(rows.filter(lambda x: x[0] == 0))) == 6

    @pytest.mark.parametrize(
        "predicate", [lambda x: x % 2, lambda x: np.asarray(x) % 2, lambda x: (x > 1, x > 2)]
    )
    def test_must_return_a_boolean(self, predicate):
        with pytest.raises(TypeError, match="one boolean for each element"):
            list(Dataset.range(3).filter(predicate))

    def test_must_reduce_arrays(self):
        with pytest.raises(TypeError, match=r"bool of shape \(2,\)"):
            list(Dataset.from_tensor_slices(np.ones((3, 2))).filter(lambda x: x > 0))


class TestEnumerate:
    @pytest.mark.parametrize("source", [Dataset.range, generated])
    def test_numbers_positions(self, source):
        dataset = source(3).repeat(2).enumerate(start=-1)
        assert list(dataset) == [(-1, 0), (0, 1), (1, 2), (2, 0), (3, 1), (4, 2)]
        assert next(iter(dataset))[0].dtype == np.int64

    def test_cardinality(self):
        assert len(Dataset.range(3).enumerate()) == 3
        assert Dataset.range(3).repeat().enumerate().cardinality() == -1

    def test_batches(self):
        read = [(int(i), x.tolist()) for i, x in Dataset.range(3).batch(2).enumerate()]
        assert read == [(0, [0, 1]), (1, [2])]


def test_apply():
    assert list(Dataset.range(3).apply(lambda d: d.skip(1))) == [1, 2]
    with pytest.raises(TypeError, match="must return a dataset, got list"):
        Dataset.range(3).apply(list)


@pytest.mark.parametrize("name", ["map", "filter"])
def test_functions_are_checked(name):
    with pytest.raises(TypeError, match=f"{name}: .* must be a function"):
        getattr(Dataset.range(3), name)(3)


def test_parallel_calls_are_checked():
    with pytest.raises(ValueError, match=r"tf\.data\.AUTOTUNE"):
        Dataset.range(3).map(lambda x: x, num_parallel_calls=0)
    Dataset.range(3).map(lambda x: x, AUTOTUNE, True)


def filled():
    return Dataset.range(1, 5).map(lambda x: np.full([int(x)], x))


def batches(dataset):
    return [batch.tolist() for batch in dataset]


# The expected values stand in the documentation of tf.data.Dataset.padded_batch.
def test_pads_to_the_longest_of_each_batch():
    assert batches(filled().padded_batch(2)) == [
        [[1, 0], [2, 2]],
        [[3, 3, 3, 0], [4, 4, 4, 4]],
    ]


def test_pads_to_a_shape():
    padded = filled().padded_batch(2, padded_shapes=[5])
    assert batches(padded) == [
        [[1, 0, 0, 0, 0], [2, 2, 0, 0, 0]],
        [[3, 3, 3, 0, 0], [4, 4, 4, 4, 0]],
    ]
    assert padded.element_spec.shape == (None, 5)
    full = filled().padded_batch(2, padded_shapes=(5,), drop_remainder=True)
    assert full.element_spec.shape == (2, 5)


def test_pads_with_a_value():
    assert batches(filled().padded_batch(2, padded_shapes=[5], padding_values=-1)) == [
        [[1, -1, -1, -1, -1], [2, 2, -1, -1, -1]],
        [[3, 3, 3, -1, -1], [4, 4, 4, 4, -1]],
    ]


def test_components_have_shapes_and_values_of_their_own():
    pairs = Dataset.zip(filled(), filled())
    (first, _) = list(
        pairs.padded_batch(2, padded_shapes=([None], [None]), padding_values=(-1, 100))
    )
    assert [part.tolist() for part in first] == [[[1, -1], [2, 2]], [[1, 100], [2, 2]]]
    labelled = Dataset.zip({"x": filled(), "y": Dataset.range(4)})
    (batch,) = labelled.padded_batch(4, {"x": [6], "y": []}, {"x": None, "y": None})
    assert batch["x"].shape == (4, 6)
    assert batch["y"].tolist() == [0, 1, 2, 3]
    assert labelled.padded_batch(4, {"x": [-1], "y": []}).element_spec["x"].shape == (None, None)


def test_several_axes_and_a_short_last_batch():
    def generate():
        for rows, columns in [(1, 3), (2, 1), (2, 2)]:
            yield np.ones((rows, columns), np.float32)

    dataset = Dataset.from_generator(
        generate, output_signature=TensorSpec((None, None), np.float32)
    ).padded_batch(2, padding_values=float("nan"))
    first, last = dataset
    assert first.shape == (2, 2, 3)
    assert first.dtype == np.float32
    assert np.isnan(first).sum() == 12 - 5
    assert last.tolist() == [[[1, 1], [1, 1]]]
    assert dataset.element_spec == TensorSpec((None, None, None), np.float32)


def test_arrays_keep_their_sizes_in_the_spec():
    rows = Dataset.from_tensor_slices(np.zeros((5, 3), np.uint8)).padded_batch(2)
    assert rows.element_spec == TensorSpec((None, 3), np.uint8)
    assert [batch.shape for batch in rows] == [(2, 3), (2, 3), (1, 3)]
    assert len(rows) == 3


@pytest.mark.parametrize(
    ("words", "pad"), [([["a"], ["bb", "c"]], ""), ([[b"a"], [b"bb", b"c"]], b"")]
)
def test_text_is_padded_with_empty_text(words, pad):
    (batch,) = Dataset.from_generator(lambda: iter(words)).padded_batch(2)
    assert batch.tolist() == [[words[0][0], pad], words[1]]


def test_long_padding_of_short_text():
    words = [["a"], ["b", "c"]]
    (batch,) = Dataset.from_generator(lambda: iter(words)).padded_batch(2, padding_values="<pad>")
    assert batch.tolist() == [["a", "<pad>"], ["b", "c"]]


def test_what_does_not_fit():
    with pytest.raises(ValueError, match="more than the padded shape"):
        list(filled().padded_batch(2, padded_shapes=[1]))
    with pytest.raises(ValueError, match="as many sizes as the component has axes"):
        list(filled().padded_batch(2, padded_shapes=[None, None]))
    with pytest.raises(TypeError, match=r"cannot be padded with 0\.5"):
        list(filled().padded_batch(2, padding_values=0.5))
    with pytest.raises(TypeError, match="padded_shapes must have the structure"):
        list(Dataset.zip(filled(), filled()).padded_batch(2, padded_shapes=[None]))
    with pytest.raises(ValueError, match="padded_batch: batch_size must be at least 1"):
        filled().padded_batch(0)


def test_rebatch():
    dataset = Dataset.range(8).batch(4)
    # The expected values stand in the documentation of tf.data.Dataset.rebatch.
    assert batches(dataset.rebatch(2)) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert batches(Dataset.range(16).batch(4).rebatch(6, drop_remainder=True)) == [
        [0, 1, 2, 3, 4, 5],
        [6, 7, 8, 9, 10, 11],
    ]
    assert batches(dataset.rebatch([2, 1, 1])) == [[0, 1], [2], [3], [4, 5], [6], [7]]
    assert batches(dataset.rebatch([3, 4], drop_remainder=True)) == [[0, 1, 2], [3, 4, 5, 6]]
    assert dataset.rebatch(2).cardinality() == UNKNOWN_CARDINALITY
    assert dataset.rebatch(2, drop_remainder=True).element_spec == TensorSpec((2,), np.int64)
    assert dataset.rebatch([2, 1]).element_spec == TensorSpec((None,), np.int64)
    with pytest.raises(ValueError, match="rebatch: batch_size must be at least 1"):
        dataset.rebatch([2, 0])


def test_rebatch_of_a_stream():
    stream = Dataset.from_generator(lambda: iter(range(5))).batch(2)
    assert batches(stream.rebatch(3)) == [[0, 1, 2], [3, 4]]
