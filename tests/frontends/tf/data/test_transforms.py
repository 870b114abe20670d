"""The methods that change elements: map, filter, batch, unbatch, enumerate and apply."""

import sys

import numpy as np
import pytest

from frontends.tf.data import AUTOTUNE, UNKNOWN_CARDINALITY, Dataset


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
