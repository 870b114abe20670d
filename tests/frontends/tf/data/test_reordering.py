"""The methods that choose elements and their order, over arrays and over generators."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontends.tf.data import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset


def numbers(dataset):
    return [int(x) for x in dataset]


def generated(n):
    return Dataset.from_generator(lambda: iter(range(n)))


class TestShuffle:
    def test_repeat_after_shuffle_has_a_new_order_every_pass(self):
        read = numbers(Dataset.range(20).shuffle(20, seed=1).repeat(2))
        assert sorted(read[:20]) == sorted(read[20:]) == list(range(20))
        assert read[:20] != read[20:]

    def test_repeat_before_shuffle_mixes_the_passes(self):
        read = numbers(Dataset.range(20).repeat(2).shuffle(40, seed=1))
        assert sorted(read) == sorted([*range(20), *range(20)])
        assert sorted(read[:20]) != list(range(20))

    def test_seed_makes_every_pass_reproducible(self):
        def passes(seed):
            dataset = Dataset.range(20).shuffle(20, seed=seed)
            return [numbers(dataset) for _ in range(3)]

        first = passes(4)
        assert first == passes(4)
        assert first != passes(5)
        assert len({tuple(order) for order in first}) == 3

    def test_same_order_in_every_pass_without_reshuffling(self):
        dataset = Dataset.range(20).shuffle(20, reshuffle_each_iteration=False)
        order = numbers(dataset)
        assert numbers(dataset) == order
        assert numbers(dataset.repeat(2)) == order * 2
        assert order != list(range(20))

    def test_datasets_made_from_a_shuffle_share_its_passes(self):
        dataset = Dataset.range(20).shuffle(20, seed=1)
        assert numbers(dataset.take(5)) != numbers(dataset.take(5))

    @settings(max_examples=60)
    @given(st.integers(0, 40), st.integers(1, 45), st.integers(0, 99), st.booleans())
    def test_nothing_comes_before_the_buffer_could_hold_it(self, n, size, seed, rows):
        source = Dataset.range(n) if rows else generated(n)
        order = numbers(source.shuffle(size, seed=seed))
        assert sorted(order) == list(range(n))
        assert all(element < place + size for place, element in enumerate(order))

    def test_all_orders_are_equally_likely(self):
        order = Dataset.range(3).shuffle(3, seed=0)
        counts = {}
        for _ in range(1200):
            key = tuple(numbers(order))
            counts[key] = counts.get(key, 0) + 1
        assert len(counts) == 6
        # 200 each on average; five standard deviations of a binomial are 65.
        assert all(abs(count - 200) < 65 for count in counts.values())

    def test_a_small_buffer_mixes_far(self):
        order = numbers(Dataset.range(1000).shuffle(10, seed=0))
        assert max(place - element for place, element in enumerate(order)) > 20

    def test_buffer_of_any_size(self):
        assert sorted(numbers(generated(9).shuffle(UNKNOWN_CARDINALITY))) == list(range(9))
        assert sorted(numbers(Dataset.range(9).shuffle(2**70))) == list(range(9))

    def test_without_end(self):
        assert len(numbers(Dataset.range(3).repeat().shuffle(100).take(500))) == 500

    @pytest.mark.parametrize("size", [0, -1])
    def test_buffer_size_is_checked(self, size):
        with pytest.raises(ValueError, match="buffer_size must be at least 1"):
            Dataset.range(3).shuffle(size)
        with pytest.raises(TypeError, match="buffer_size must be an integer"):
            Dataset.range(3).shuffle(1.5)  # pyright: ignore[reportArgumentType]


class TestRepeat:
    @pytest.mark.parametrize("source", [Dataset.range, generated])
    def test_counts(self, source):
        assert numbers(source(2).repeat(3)) == [0, 1] * 3
        assert numbers(source(2).repeat(0)) == []
        assert numbers(source(2).repeat().take(5)) == [0, 1, 0, 1, 0]
        assert numbers(source(2).repeat(-1).take(3)) == [0, 1, 0]

    @pytest.mark.parametrize("source", [Dataset.range, generated])
    def test_nothing_without_end_ends(self, source):
        assert numbers(source(0).repeat()) == []

    def test_many_short_passes(self):
        assert len(list(Dataset.range(3).repeat(100_000).batch(1000))) == 300

    def test_cardinality(self):
        assert Dataset.range(3).repeat().cardinality() == INFINITE_CARDINALITY
        assert Dataset.range(3).repeat(4).cardinality() == 12


@pytest.mark.parametrize("source", [Dataset.range, generated])
def test_take_skip_shard(source):
    assert numbers(source(9).take(3)) == [0, 1, 2]
    assert numbers(source(3).take(9)) == [0, 1, 2]
    assert numbers(source(3).take(-1)) == [0, 1, 2]
    assert numbers(source(3).take(np.int64(0))) == []
    assert numbers(source(4).skip(3)) == [3]
    assert numbers(source(4).skip(9)) == []
    assert numbers(source(4).skip(-1)) == []
    assert numbers(source(9).shard(4, 1)) == [1, 5]


@pytest.mark.parametrize(("shards", "index"), [(0, 0), (3, 3), (3, -1)])
def test_shard_out_of_range(shards, index):
    with pytest.raises(ValueError, match="shard: "):
        Dataset.range(3).shard(shards, index)


@pytest.mark.parametrize("name", ["take", "skip", "repeat", "prefetch"])
def test_counts_must_be_integers(name):
    with pytest.raises(TypeError, match=f"{name}: .* must be an integer"):
        getattr(Dataset.range(3), name)(1.5)


class TestConcatenate:
    def test_rows(self):
        both = Dataset.range(2).concatenate(Dataset.range(7, 10).map(lambda x: x).map(lambda x: x))
        with pytest.raises(TypeError, match="int64 in the first dataset and int32 in the second"):
            list(both)
        both = Dataset.range(2).concatenate(Dataset.range(7, 10))
        assert [x.tolist() for x in both.batch(4)] == [[0, 1, 7, 8], [9]]
        assert len(both) == 5

    def test_rows_of_different_sources(self):
        a = Dataset.zip(Dataset.range(3), Dataset.range(3))
        b = Dataset.from_tensor_slices((np.arange(4), np.arange(4)))
        pairs = list(a.concatenate(b).shuffle(9, seed=2))
        assert sorted(pairs) == sorted([(i, i) for i in [*range(3), *range(4)]])

    def test_different_shapes(self):
        a = Dataset.from_tensor_slices(np.zeros((1, 2)))
        b = Dataset.from_tensor_slices(np.zeros((1, 3)))
        both = a.concatenate(b)
        assert [x.shape for x in both] == [(2,), (3,)]
        assert both.element_spec.shape == (None,)

    def test_different_structures(self):
        a = Dataset.range(2)
        with pytest.raises(TypeError, match="same structure"):
            list(a.concatenate(Dataset.zip(a, a)))
        with pytest.raises(TypeError, match="expected a dataset"):
            a.concatenate([1])

    def test_batches_and_maps_keep_their_own_steps(self):
        a = Dataset.range(3).batch(2).map(lambda x: x + 1)
        b = generated(3).map(lambda x: np.asarray(x) * 2).batch(3)
        assert [x.tolist() for x in a.concatenate(b)] == [[1, 2], [3], [0, 2, 4]]
