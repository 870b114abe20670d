"""The methods that make datasets: of arrays, numbers, generators, Grain pipelines and other datasets."""

import collections
import threading

import grain
import numpy as np
import pytest

from frontends.tf.data import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset
from frontends.tf.data.spec import TensorSpec

Pair = collections.namedtuple("Pair", ["a", "b"])


class TestFromTensorSlices:
    def test_a_list_is_one_array(self):
        rows = list(Dataset.from_tensor_slices([[1, 2], [3, 4]]))
        np.testing.assert_array_equal(rows, [[1, 2], [3, 4]])
        assert rows[0].dtype == np.int32

    def test_a_tuple_is_structure(self):
        assert list(Dataset.from_tensor_slices(([1, 2], [3, 4]))) == [(1, 3), (2, 4)]

    def test_structures(self):
        element = next(iter(Dataset.from_tensor_slices(Pair([1], {"x": [2], "y": ([3], None)}))))
        assert element == Pair(1, {"x": 2, "y": (3, None)})

    @pytest.mark.parametrize(
        ("values", "dtype"),
        [
            ([1, 2], np.int32),
            ([2**40, 1], np.int64),
            ([1.0, 2.0], np.float32),
            ([True], np.bool_),
            (np.arange(2), np.int64),
            (np.ones(2), np.float64),
            ([np.float64(1)], np.float64),
            (np.ones(2, np.float16), np.float16),
        ],
    )
    def test_dtypes(self, values, dtype):
        assert next(iter(Dataset.from_tensor_slices(values))).dtype == dtype

    def test_text(self):
        dataset = Dataset.from_tensor_slices(["a", "bcd"])
        assert list(dataset) == ["a", "bcd"]
        assert list(dataset.map(lambda x: x + "!")) == ["a!", "bcd!"]
        assert next(iter(dataset.batch(2))).tolist() == ["a", "bcd"]

    def test_bytes_keep_their_zeros(self):
        dataset = Dataset.from_tensor_slices([b"a\0", b"b"])
        assert list(dataset) == [b"a\0", b"b"]
        assert next(iter(dataset.batch(2))).tolist() == [b"a\0", b"b"]
        grown = dataset.map(lambda x: x + b"\0").batch(2)
        assert next(iter(grown)).tolist() == [b"a\0\0", b"b\0"]

    def test_elements_share_no_memory_with_the_array(self):
        array = np.zeros((4, 2))
        for dataset in (
            Dataset.from_tensor_slices(array),
            Dataset.from_tensor_slices(array).batch(2),
        ):
            for element in dataset:
                element += 1
        assert not array.any()

    def test_unequal_lengths_name_the_component(self):
        with pytest.raises(ValueError, match=r"\['x'\] has 4 .*\['y'\] has 3") as raised:
            Dataset.from_tensor_slices({"x": np.zeros((4, 2)), "y": np.zeros(3)})
        assert "Fix: slice both to 3 rows" in str(raised.value)

    def test_scalar_and_nothing(self):
        with pytest.raises(ValueError, match=r"\[1\] is a scalar .*(.|\n)*from_tensors"):
            Dataset.from_tensor_slices(([1, 2], 3))
        with pytest.raises(ValueError, match="at least one array"):
            Dataset.from_tensor_slices(())

    def test_no_rows(self):
        dataset = Dataset.from_tensor_slices(np.zeros((0, 3)))
        assert list(dataset.shuffle(3).map(lambda x: x + 1).repeat().batch(2)) == []
        assert len(dataset.repeat()) == 0


class TestFromTensors:
    def test_one_element(self):
        (element,) = Dataset.from_tensors(([1, 2], 3.0))
        np.testing.assert_array_equal(element[0], [1, 2])
        assert element[1] == np.float32(3)

    def test_writes_do_not_come_back(self):
        dataset = Dataset.from_tensors(np.zeros(2)).repeat(2)
        for element in dataset:
            assert not element.any()
            element += 1

    def test_nothing(self):
        with pytest.raises(ValueError, match="at least one array"):
            Dataset.from_tensors(())


class TestRange:
    @pytest.mark.parametrize(
        "args", [(5,), (0,), (2, 9), (9, 2), (9, 2, -3), (2, 9, 3), (-4, 4, 2)]
    )
    def test_is_pythons(self, args):
        dataset = Dataset.range(*args)
        assert [int(x) for x in dataset] == list(range(*args))
        assert len(dataset) == len(range(*args))

    def test_dtype(self):
        assert Dataset.range(3).element_spec == TensorSpec((), np.int64)
        assert Dataset.range(3, output_type=np.int32).element_spec == TensorSpec((), np.int32)

    def test_longer_than_memory(self):
        assert list(Dataset.range(2**62).skip(10).take(2)) == [10, 11]

    def test_errors(self):
        with pytest.raises(ValueError, match="1 to 3 numbers"):
            Dataset.range()
        with pytest.raises(TypeError, match="must be an integer"):
            Dataset.range(1.5)  # pyright: ignore[reportArgumentType]


class TestZip:
    def test_the_shortest_decides(self):
        a, b = Dataset.range(3), Dataset.range(10, 15)
        assert list(Dataset.zip(a, b)) == [(0, 10), (1, 11), (2, 12)]
        assert len(Dataset.zip(b, a)) == 3

    def test_structures(self):
        a = Dataset.range(2)
        assert list(Dataset.zip((a,))) == [(0,), (1,)]
        assert list(Dataset.zip(a)) == [0, 1]
        assert list(Dataset.zip({"x": a, "y": (a, a)})) == [{"x": i, "y": (i, i)} for i in (0, 1)]
        assert list(Dataset.zip(datasets=(a, a))) == [(0, 0), (1, 1)]

    def test_elements_nest(self):
        pairs = Dataset.from_tensor_slices(([1, 2], [3, 4]))
        assert list(Dataset.zip(pairs, Dataset.range(2))) == [((1, 3), 0), ((2, 4), 1)]

    def test_each_side_has_its_own_order(self):
        a = Dataset.range(40).shuffle(40, seed=1)
        b = Dataset.range(40).shuffle(7, seed=2).map(lambda x: -x)
        left, right = next(iter(Dataset.zip(a, b).batch(40)))
        assert sorted(left) == sorted(-right) == list(range(40))
        assert (left != -right).any()

    def test_rows_with_a_stream(self):
        stream = Dataset.from_generator(lambda: iter("abc"))
        assert list(Dataset.zip(Dataset.range(9), stream)) == [(0, "a"), (1, "b"), (2, "c")]
        assert Dataset.zip(Dataset.range(9), stream).cardinality() == UNKNOWN_CARDINALITY

    def test_errors(self):
        a = Dataset.range(2)
        with pytest.raises(
            TypeError, match=r"(?s)expected a dataset, got .*tuples or dicts.*tuple\(datasets\)"
        ):
            Dataset.zip([a, a])
        with pytest.raises(TypeError, match=r"(?s)got array.*from_tensor_slices"):
            Dataset.zip(a, np.arange(2))
        with pytest.raises(TypeError, match="none"):
            Dataset.zip()
        with pytest.raises(TypeError, match="both"):
            Dataset.zip(a, datasets=a)
        with pytest.raises(TypeError, match="at least one"):
            Dataset.zip(())


class TestFromGrain:
    def test_map_dataset(self):
        dataset = Dataset.from_grain(grain.MapDataset.range(5).map(lambda x: {"x": x}))
        assert [int(e["x"]) for e in dataset] == [0, 1, 2, 3, 4]
        assert [e["x"].tolist() for e in dataset.batch(3)] == [[0, 1, 2], [3, 4]]
        assert len(dataset) == 5

    def test_iter_dataset(self):
        pipeline = grain.MapDataset.range(4).to_iter_dataset().batch(2)
        dataset = Dataset.from_grain(pipeline)
        assert [x.tolist() for x in dataset.unbatch().batch(3)] == [[0, 1, 2], [3]]
        assert dataset.cardinality() == UNKNOWN_CARDINALITY

    def test_endless(self):
        dataset = Dataset.from_grain(grain.MapDataset.range(2).repeat())
        assert dataset.cardinality() == INFINITE_CARDINALITY
        assert list(dataset.take(3)) == [0, 1, 0]

    def test_spec(self):
        dataset = Dataset.from_grain(grain.MapDataset.range(2).map(lambda x: np.zeros(3)))
        assert dataset.element_spec == TensorSpec((3,), np.float64)

    def test_an_iterator_is_refused(self):
        with pytest.raises(TypeError, match="more than once"):
            Dataset.from_grain(iter([1, 2]))
        with pytest.raises(TypeError, match="more than once"):
            Dataset.from_grain(threading.Lock())


def first(dataset, count=20):
    return [int(x) for x in dataset.take(count)]


def test_counter():
    # The expected values stand in the documentation of tf.data.Dataset.counter.
    assert first(Dataset.counter(), 5) == [0, 1, 2, 3, 4]
    assert first(Dataset.counter(start=2), 5) == [2, 3, 4, 5, 6]
    assert first(Dataset.counter(start=2, step=5), 5) == [2, 7, 12, 17, 22]
    assert first(Dataset.counter(start=10, step=-1), 5) == [10, 9, 8, 7, 6]
    small = Dataset.counter(dtype=np.int32)
    assert small.element_spec == TensorSpec((), np.int32)
    assert small.cardinality() == INFINITE_CARDINALITY
    assert small.batch(3).take(1).get_single_element().tolist() == [0, 1, 2]


def test_random():
    dataset = Dataset.random(seed=4)
    assert dataset.cardinality() == INFINITE_CARDINALITY
    assert dataset.element_spec == TensorSpec((), np.int64)
    values = first(dataset, 2000)
    assert min(values) >= 0
    assert 2**31 < max(values) < 2**32
    assert len(set(values)) > 1990
    assert next(iter(dataset)).dtype == np.int64


def test_seeds():
    assert first(Dataset.random(seed=4)) == first(Dataset.random(seed=4))
    assert first(Dataset.random(seed=4)) != first(Dataset.random(seed=5))
    assert first(Dataset.random()) != first(Dataset.random())
    with pytest.raises(TypeError, match=r"random: seed must be an integer or None"):
        Dataset.random(seed=1.5)


def test_passes():
    same = Dataset.random(seed=4)
    assert first(same) == first(same)
    changing, again = (Dataset.random(seed=4, rerandomize_each_iteration=True) for _ in range(2))
    passes = [first(changing), first(changing)]
    assert passes[0] != passes[1]
    assert [first(again), first(again)] == passes


def test_an_error_shows_the_beginning_of_a_large_value():
    with pytest.raises(TypeError, match="generator must be a function") as error:
        Dataset.from_generator([*range(100_000)])
    assert len(str(error.value)) < 300
