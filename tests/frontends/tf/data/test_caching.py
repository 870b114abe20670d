"""`cache`: what is computed once, what a pass given up early leaves, and what cannot be changed."""

import numpy as np
import pytest

from frontends.tf.data import Dataset


def recorded(n):
    """Returns a dataset and the list of the numbers that it was asked for."""
    asked = []

    def generate():
        for i in range(n):
            asked.append(i)
            yield i

    return Dataset.from_generator(generate), asked


class TestStream:
    def test_is_read_once(self):
        dataset, asked = recorded(3)
        cached = dataset.cache()
        assert list(cached) == list(cached) == list(cached.repeat(2).take(3)) == [0, 1, 2]
        assert asked == [0, 1, 2]

    def test_a_pass_that_is_given_up_leaves_nothing(self):
        dataset, asked = recorded(3)
        cached = dataset.cache()
        assert list(cached.take(2)) == [0, 1]
        assert list(cached) == list(cached) == [0, 1, 2]
        assert asked == [0, 1, 0, 1, 2]

    def test_order_of_a_shuffle_is_kept(self):
        dataset, _ = recorded(20)
        cached = dataset.shuffle(20).cache()
        assert list(cached) == list(cached)

    def test_is_locked_against_writing(self):
        cached = Dataset.from_generator(lambda: iter([np.zeros(2)])).cache()
        for _ in range(2):
            (element,) = cached
            with pytest.raises(ValueError, match="read-only"):
                element += 1

    def test_endless(self):
        dataset, asked = recorded(2)
        assert list(dataset.repeat().cache().take(3)) == [0, 1, 0]
        assert asked == [0, 1, 0]


class TestRows:
    def test_a_map_runs_once_per_row(self):
        seen = []

        def note(x):
            seen.append(x.tolist())

        def function(x):
            import jax

            jax.debug.callback(note, x)
            return x * 2

        cached = Dataset.range(4).map(function).cache()
        for _ in range(3):
            assert next(iter(cached.shuffle(4).batch(4))).sum() == 12
        assert sorted(seen) == [0, 1, 2, 3]

    def test_only_what_is_needed_is_computed(self):
        cached = Dataset.range(10**6).map(lambda x: x * 2).cache()
        assert [x.tolist() for x in cached.skip(500).batch(2).take(2)] == [
            [1000, 1002],
            [1004, 1006],
        ]

    def test_rows_are_the_callers_own(self):
        cached = Dataset.range(4).map(lambda x: x * 2).cache()
        for _ in range(2):
            (batch,) = cached.batch(4)
            assert batch.tolist() == [0, 2, 4, 6]
            batch += 1

    @pytest.mark.parametrize("function", [None, lambda x: x + 1])
    def test_order_of_a_shuffle_is_kept(self, function):
        dataset = Dataset.range(20).shuffle(20)
        cached = (dataset.map(function) if function else dataset).cache()
        assert list(cached) == list(cached)
        assert list(cached) != sorted(cached)
        assert [x for b in cached.batch(3) for x in b] == list(cached)

    def test_of_a_repeated_dataset(self):
        cached = Dataset.range(3).repeat(2).map(lambda x: x + 1).cache()
        assert list(cached.repeat(2)) == [1, 2, 3] * 4
        assert list(Dataset.range(3).repeat().map(lambda x: x + 1).cache().take(4)) == [1, 2, 3, 1]

    def test_of_nothing(self):
        assert list(Dataset.range(0).shuffle(2).map(lambda x: x + 1).cache().repeat()) == []

    def test_structures(self):
        rows = Dataset.from_tensor_slices({"b": np.arange(3), "a": np.ones((3, 2))})
        cached = rows.map(lambda e: {"z": e["a"] + 1, "y": e["b"]}).cache().batch(2)
        for _ in range(2):
            assert [e["y"].tolist() for e in cached] == [[0, 1], [2]]
            assert next(iter(cached))["z"].shape == (2, 2)

    def test_batches(self):
        cached = Dataset.range(5).batch(2).map(lambda x: x + 1).cache()
        assert [x.tolist() for x in cached] == [x.tolist() for x in cached] == [[1, 2], [3, 4], [5]]
        assert list(Dataset.range(4).batch(2).cache().unbatch()) == [0, 1, 2, 3]
