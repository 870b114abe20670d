"""Names of TPU slices, and where their devices lie."""

from types import SimpleNamespace

import pytest

from spmd.errors import MeshError
from spmd.topology.slices import Slice, parse_slice, physical_coordinates


@pytest.mark.parametrize(
    ("name", "devices", "shape"),
    [
        ("v2-8", 8, (2, 2, 1, 2)),
        ("v3-32", 32, (4, 4, 1, 2)),
        ("v4-8", 4, (2, 2, 1, 1)),
        ("v4-64", 32, (2, 4, 4, 1)),
        ("v5p-16", 8, (2, 2, 2, 1)),
        ("v5e-1", 1, (1, 1, 1, 1)),
        ("v5e-8", 8, (2, 4, 1, 1)),
        ("v5litepod-256", 256, (16, 16, 1, 1)),
        ("V6e-4", 4, (2, 2, 1, 1)),
        ("8", 8, (2, 2, 1, 2)),
        ("3", 3, (1, 3, 1, 1)),
    ],
)
def test_the_names_of_cloud_tpu(name, devices, shape):
    found = parse_slice(name)
    assert (found.devices, found.shape) == (devices, shape)
    places = [found.coordinates(index) for index in range(devices)]
    assert len(set(places)) == devices
    assert all(0 <= at < size for place in places for at, size in zip(place, shape, strict=True))


@pytest.mark.parametrize("name", ["v3-8", "v4-16", "v5e-16", "v6e-8", "v5p-8"])
def test_a_slice_tells_its_name(name):
    assert parse_slice(name).name == name


def test_cores_come_before_the_next_chip_and_x_before_y():
    places = [Slice("v3", 8).coordinates(index) for index in range(4)]
    assert places == [(0, 0, 0, 0), (0, 0, 0, 1), (1, 0, 0, 0), (1, 0, 0, 1)]
    assert Slice("v5e", 8).coordinates(2) == (0, 1, 0, 0)


@pytest.mark.parametrize("name", ["", "0", "v9-8", "v5e-", "v5e-0", "v4-3", "v3-7", "h100"])
def test_what_is_no_slice(name):
    with pytest.raises(MeshError, match=r"slice.*(v5e-8|'v\w+-8')"):
        parse_slice(name)


def test_a_tpu_says_where_it_lies():
    assert physical_coordinates(SimpleNamespace(coords=[1, 2, 0], core_on_chip=1)) == (1, 2, 0, 1)
    assert physical_coordinates(SimpleNamespace(coords=(1, 2))) == (1, 2, 0, 0)
