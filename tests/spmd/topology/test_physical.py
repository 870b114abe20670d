"""The order of TPU devices along a mesh."""

import dataclasses
import itertools

import jax
import pytest

from spmd.topology.physical import in_physical_order
from spmd.topology.slices import Slice


@dataclasses.dataclass(frozen=True)
class Chip:
    """What `mesh_utils` and this package read of a TPU device."""

    id: int
    coords: tuple[int, int, int]
    process_index: int = 0
    slice_index: int = 0
    core_on_chip: int = 0
    platform: str = "tpu"
    device_kind: str = "TPU v5 lite"


def _chips(side, slices=1):
    """Square slices of hosts with 2 x 2 chips, in JAX's order: host by host."""
    made = []
    for index in range(slices):
        hosts = itertools.product(range(0, side, 2), range(0, side, 2))
        for host, (y, x) in enumerate(hosts):
            process = index * (side // 2) ** 2 + host
            made += [
                Chip(len(made) + dx + 2 * dy, (x + dx, y + dy, 0), process, index)
                for dy in (0, 1)
                for dx in (0, 1)
            ]
    return made


def _steps(devices):
    return [
        sum(abs(a - b) for a, b in zip(one.coords, two.coords, strict=True))
        for one, two in itertools.pairwise(devices)
    ]


def test_neighbours_on_a_host_are_linked():
    ordered = in_physical_order(_chips(2))
    assert [chip.coords[:2] for chip in ordered] == [(0, 0), (1, 0), (1, 1), (0, 1)]
    assert _steps(ordered) == [1, 1, 1]


@pytest.mark.parametrize("slices", [1, 2])
def test_hosts_and_slices_stay_together(slices):
    chips = _chips(4, slices)
    ordered = in_physical_order(chips)
    assert sorted(ordered, key=lambda chip: chip.id) == chips
    processes = [process for process, _ in itertools.groupby(c.process_index for c in ordered)]
    assert len(processes) == len(set(processes)) == 4 * slices
    changes = sum(one.slice_index != two.slice_index for one, two in itertools.pairwise(ordered))
    assert changes == slices - 1


def test_a_part_of_a_slice_stays_as_it_is():
    chips = _chips(4)[:3]
    assert sorted(c.id for c in in_physical_order(chips)) == [0, 1, 2]
    unequal = [*_chips(2), Chip(9, (0, 0, 0), 1, slice_index=1)]
    assert in_physical_order(unequal) == unequal


def test_devices_that_do_not_say_where_they_lie():
    assert in_physical_order(jax.devices()) == jax.devices()


def test_the_ring_of_a_v3(monkeypatch):
    places = [Slice("v3", 8).coordinates(index) for index in range(8)]
    chips = [
        Chip(index, place[:3], core_on_chip=place[3], device_kind="TPU v3")
        for index, place in enumerate(places)
    ]
    ordered = in_physical_order(chips)
    assert [chip.id for chip in ordered] == [0, 1, 2, 3, 6, 7, 4, 5]
