"""Where the cores of a TPU are."""

import types

import jax
import numpy as np
import pytest

from frontends import tf
from frontends.tf.tpu import topology
from frontends.tf.tpu.topology import Topology, device_at, topology_of_devices


def test_places_names_and_numbers():
    places = [[[0, 0, 0, 0], [1, 0, 0, 0]], [[0, 1, 0, 0], [1, 1, 0, 0]]]
    found = Topology(mesh_shape=(2, 2, 1, 1), device_coordinates=places)
    assert found.mesh_shape.tolist() == [2, 2, 1, 1]
    assert (found.mesh_rank, found.num_tasks, found.num_tpus_per_task) == (4, 2, 2)
    np.testing.assert_array_equal(found.device_coordinates, places)
    assert found.missing_devices.shape == (0, 4)
    assert found.task_ordinal_at_coordinates([1, 1, 0, 0]) == 1
    assert found.tpu_device_ordinal_at_coordinates([1, 1, 0, 0]) == 1
    assert found.cpu_device_name_at_coordinates([1, 1, 0, 0], "w") == "/job:w/task:1/device:CPU:0"
    assert found.tpu_device_name_at_coordinates([1, 1, 0, 0]) == "/task:1/device:TPU:1"
    again = Topology(serialized=found.serialized())
    assert again.serialized() == found.serialized()
    np.testing.assert_array_equal(again.device_coordinates, places)


def test_missing_devices():
    found = Topology(mesh_shape=[2, 1, 1, 1], device_coordinates=[[[0, 0, 0, 0]]])
    assert found.missing_devices.tolist() == [[1, 0, 0, 0]]


@pytest.mark.parametrize(
    ("shape", "places", "message"),
    [
        ([2, 2], [[[0, 0, 0, 0]]], "`mesh_shape` must be a sequence of 4"),
        ([2, 2, 0, 1], [[[0, 0, 0, 0]]], "4 positive entries"),
        ([1, 1, 1, 1], [[0, 0, 0, 0]], "`device_coordinates` must be a rank 3"),
        ([1, 1, 1, 1], [[[0, 0, 0]]], r"shape is \(1, 1, 3\)"),
    ],
)
def test_other_parts_are_refused(shape, places, message):
    with pytest.raises(ValueError, match=message):
        Topology(mesh_shape=shape, device_coordinates=places)


def test_of_simulated_devices(simulate):
    simulate("tpu:8")
    found = topology_of_devices()
    assert found.mesh_shape.tolist() == [2, 2, 1, 2]  # of a v3, which has two cores on a chip
    assert found.num_tpus_per_task == 8
    assert device_at(found, found.device_coordinates[0, 5]) == jax.devices("cpu")[5]
    simulate("tpu:v5e-8")
    assert topology_of_devices().mesh_shape.tolist() == [2, 4, 1, 1]


def test_of_real_devices_of_two_slices(monkeypatch):
    """Made-up devices, with the attributes that TPU devices have."""

    def device(task, slice_index, x, core):
        return types.SimpleNamespace(
            process_index=task, slice_index=slice_index, coords=[x, 0, 0], core_on_chip=core
        )

    devices = [device(s, s, x, c) for s in (0, 1) for x in (0, 1) for c in (0, 1)]

    class Named:
        def __init__(self, one):
            vars(self).update(vars(one))

    named = list(map(Named, devices))
    monkeypatch.setattr(topology, "all_devices", lambda platform: named)
    found = topology_of_devices()
    assert found.mesh_shape.tolist() == [4, 1, 1, 2]
    assert found.num_tasks == 2
    assert found.device_coordinates[1].tolist() == [
        *([2, 0, 0, 0], [2, 0, 0, 1]),
        *([3, 0, 0, 0], [3, 0, 0, 1]),
    ]
    assert device_at(found, [3, 0, 0, 1]) is named[7]


def test_what_initializing_returns(simulate):
    simulate("tpu:2")
    assert isinstance(tf.tpu.experimental.initialize_tpu_system(), tf.tpu.experimental.Topology)
