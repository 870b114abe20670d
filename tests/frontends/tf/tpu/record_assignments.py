"""Records TensorFlow's device assignments: `python -m tests.frontends.tf.tpu.record_assignments`, where TensorFlow is installed."""

import itertools
import json
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data" / "assignments.json"
# Topologies by shape and devices of a task; shapes and strides of replicas.
SHAPES = [
    ((2, 2, 1, 2), 8),
    ((4, 4, 1, 2), 8),
    ((4, 4, 1, 1), 4),
    ((2, 2, 2, 1), 4),
    ((4, 4, 4, 1), 4),
    ((3, 2, 1, 1), 2),
    ((8, 8, 1, 1), 8),
]
COMPUTATIONS = [
    *(None, [1, 1, 1, 2], [2, 1, 1, 1], [2, 2, 1, 1], [2, 2, 1, 2]),
    *([2, 2, 2, 1], [2, 1, 2, 1], [4, 2, 1, 1]),
]
STRIDES = [None, [1, 1, 1, 2], [2, 1, 1, 1]]


def cases():
    """Lists shape, devices of a task, computation shape and stride, replicas, and mode."""
    for (shape, own), computation, stride in itertools.product(SHAPES, COMPUTATIONS, STRIDES):
        fit = int(np.prod(shape)) // int(np.prod(computation or [1]))
        for replicas in sorted({1, 3, fit // 2, fit} - {0}):
            for mode in range(1 if stride else 3):
                if fit < 33 or (stride is None and replicas in (3, fit)):
                    yield list(shape), own, computation, stride, replicas, mode


def topology(make, shape, own):
    """Makes a topology whose devices are numbered along cores, x, y and z."""
    ranges = (range(shape[axis]) for axis in (2, 1, 0, 3))
    places = np.array([[x, y, z, core] for z, y, x, core in itertools.product(*ranges)])
    return make(mesh_shape=shape, device_coordinates=places.reshape(-1, own, 4))


def assigned(experimental, shape, own, computation, stride, replicas, mode):
    """Builds an assignment; gives a number for each core's coordinates, or None if it is refused."""
    try:
        found = experimental.DeviceAssignment.build(
            topology(experimental.Topology, shape, own),
            computation_shape=computation,
            computation_stride=stride,
            num_replicas=replicas,
            device_order_mode=experimental.DeviceOrderMode(mode),
        )
    except ValueError:
        return None
    return np.ravel_multi_index(np.moveaxis(found.core_assignment, -1, 0), shape).tolist()


if __name__ == "__main__":
    import tensorflow

    recorded = [assigned(tensorflow.tpu.experimental, *case) for case in cases()]
    DATA.write_text(json.dumps(recorded, separators=(",", ":")) + "\n")
