"""Which cores each replica gets: TensorFlow's answers, recorded."""

import json

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.tpu.record_assignments import DATA, assigned, cases, topology

EXPERIMENTAL = tf.tpu.experimental
Assignment, Topology = EXPERIMENTAL.DeviceAssignment, EXPERIMENTAL.Topology


def cube():
    return topology(Topology, (2, 2, 1, 2), 4)


def test_assignments_are_tensorflows():
    recorded = json.loads(DATA.read_text())
    chosen = list(cases())
    assert len(recorded) == len(chosen) > 200
    for case, expected in zip(chosen, recorded, strict=True):
        assert assigned(EXPERIMENTAL, *case) == expected, case


def test_names_and_numbers_of_cores():
    found = Assignment.build(cube(), computation_shape=[1, 1, 1, 2], num_replicas=4)
    assert (found.num_replicas, found.num_cores_per_replica) == (4, 2)
    assert found.topology.num_tasks == 2
    assert found.coordinates(3, 1) == (0, 1, 0, 1)
    assert found.core_assignment[3, 1].tolist() == [0, 1, 0, 1]
    assert found.tpu_ordinal(3, 1) == 1
    assert found.tpu_device(3, 1, job="worker") == "/job:worker/task:1/device:TPU:1"
    assert found.host_device(3, 1) == "/task:1/device:CPU:0"
    assert found.lookup_replicas(0, 0) == [0, 1]
    with pytest.raises(ValueError, match=r"any replica in task: 2 .*There|any replica in task: 2"):
        found.lookup_replicas(2, 0)


def test_devices_as_they_are_numbered_where_some_are_missing():
    places = np.array([[[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0]]])
    found = Assignment.build(
        Topology(mesh_shape=[2, 2, 1, 1], device_coordinates=places), num_replicas=3
    )
    assert found.core_assignment[:, 0].tolist() == places[0].tolist()
    with pytest.raises(ValueError, match="requested 4 replicas"):
        Assignment.build(found.topology, num_replicas=4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"computation_shape": [1, 1, 1]}, r"computation_shape must have shape \[4\]"),
        ({"computation_shape": [1, 1, 0, 1]}, "computation_shape must be positive"),
        ({"computation_stride": [0, 1, 1, 1]}, "computation_stride must be positive"),
        ({"computation_shape": [4, 1, 1, 1]}, "does not fit in TPU topology shape"),
        ({"num_replicas": 9}, "requested 9 replicas but only 8"),
        ({"num_replicas": 3, "device_order_mode": 1}, "RING needs replicas of whole chips"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Assignment.build(cube(), **arguments)


def test_made_from_coordinates():
    assert Assignment(cube(), Assignment.SINGLE_CORE).tpu_device() == "/task:0/device:TPU:0"
    with pytest.raises(ValueError, match="topology must be a Topology"):
        Assignment([2, 2, 1, 2], Assignment.SINGLE_CORE)
    with pytest.raises(ValueError, match="core_assignment must be a rank 3"):
        Assignment(cube(), [[0, 0, 0, 0]])
