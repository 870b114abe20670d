"""Iterables that know their batch size or position."""

import json
from collections.abc import Callable, Iterator

import numpy as np
from jax.sharding import Mesh

import spmd
from spmd.input import ResumableBatches, SizedBatches


class Rotated:
    """Four batches; every pass begins one batch later."""

    full_batch_rows = 4

    def __init__(self) -> None:
        self.passes = 0

    def __iter__(self) -> Iterator[np.ndarray]:
        self.passes += 1
        return iter([np.full(2, (self.passes + i) % 4) for i in range(4)])

    def position(self) -> int:
        return self.passes

    def resumed_at(self, position: int, batches: int) -> Iterator[np.ndarray]:
        self.passes = position
        return iter(list(self)[batches:])


def test_are_recognised_by_what_they_have() -> None:
    assert isinstance(Rotated(), SizedBatches)
    assert isinstance(Rotated(), ResumableBatches)
    assert not isinstance([], SizedBatches | ResumableBatches)


def test_a_pass_goes_on_in_another_run(mesh_of: Callable[[int], Mesh]) -> None:
    first = spmd.distribute(Rotated(), mesh_of(2))
    assert first.batch_size == 4
    list(first)
    iterator = iter(first)
    next(iterator)
    state = json.loads(json.dumps(iterator.get_state()))
    rest = [int(batch.array[0]) for batch in iterator]
    second = spmd.distribute(Rotated(), mesh_of(2))
    second.set_state(state)
    assert [int(batch.array[0]) for batch in second] == rest
    assert rest == [3, 0, 1]
