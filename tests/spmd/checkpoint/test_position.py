"""Iterators go on where they were."""

import grain
import numpy as np
import pytest

import spmd
from spmd.checkpoint import Checkpoint, CheckpointError


class Counter:
    def __init__(self, state):
        self.state = state

    def get_state(self):
        return self.state

    def set_state(self, state):
        self.state = state


def numbers():
    return iter(grain.MapDataset.range(100).shuffle(seed=1).batch(4).to_iter_dataset())


def test_a_grain_iterator_goes_on_with_the_next_batch(tmp_path):
    data = numbers()
    checkpoint = Checkpoint(data=data)
    next(data)
    path = checkpoint.save(tmp_path / "ckpt")
    expected = [next(data) for _ in range(3)]
    checkpoint.restore(path).assert_consumed()
    np.testing.assert_array_equal([next(data) for _ in range(3)], expected)
    fresh = numbers()
    Checkpoint(data=fresh).restore(path)
    np.testing.assert_array_equal([next(fresh) for _ in range(3)], expected)


def test_a_grain_data_loader_goes_on_with_the_next_row(tmp_path):
    sampler = grain.samplers.IndexSampler(20, shuffle=True, seed=3, num_epochs=1)
    loader = grain.DataLoader(data_source=grain.sources.RangeDataSource(0, 20, 1), sampler=sampler)
    data = iter(loader)
    next(data)
    path = Checkpoint(data=data).save(tmp_path / "ckpt")
    expected = list(data)
    fresh = iter(loader)
    Checkpoint(data=fresh).restore(path)
    assert list(fresh) == expected


@pytest.mark.parametrize("state", [3, {"a": [1, 2.5, None]}, b"\x00\xff", "text"])
def test_positions_come_back_as_they_were(tmp_path, state):
    path = Checkpoint(data=Counter(state)).save(tmp_path / "ckpt")
    fresh = Counter(None)
    Checkpoint(data=fresh).restore(path)
    assert fresh.state == state


def test_a_position_in_another_division_of_the_data_is_refused(tmp_path):
    divided = Counter({"position": None, "batches": 2, "parts": 2})
    path = Checkpoint(data=divided, step=5).save(tmp_path / "ckpt")
    mesh = spmd.make_mesh(["cpu:0"])
    checkpoint = Checkpoint(data=spmd.distribute(np.arange(8), mesh, batch_size=2), step=0)
    with pytest.raises(CheckpointError, match=r"position of data .* among 2 process.* among 1"):
        checkpoint.restore(path)
    assert checkpoint.step == 0


def test_numbers_of_numpy_are_numbers(tmp_path):
    path = Checkpoint(data=Counter({"n": np.int64(3)})).save(tmp_path / "ckpt")
    fresh = Counter(None)
    Checkpoint(data=fresh).restore(path)
    assert fresh.state == {"n": 3}


def test_a_position_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(
        CheckpointError, match="position of data cannot be saved: it holds a object"
    ):
        Checkpoint(data=Counter(object())).save(tmp_path / "ckpt")
