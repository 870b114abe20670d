"""`tf.distribute.TPUStrategy`."""

from typing import Any

import numpy as np

import spmd
from frontends.tf.distribute.cluster_resolver import TPUClusterResolver
from frontends.tf.distribute.joining import join_tpu_hosts
from frontends.tf.distribute.strategy import Strategy
from frontends.tf.distribute.tpu_extended import TPUExtended
from frontends.tf.tpu.device_assignment import DeviceAssignment
from frontends.tf.tpu.system import require_tpu
from frontends.tf.tpu.topology import device_at
from spmd.topology import all_devices, kind_of, mesh_of_cores


class TPUStrategy(Strategy):
    """Trains on all cores of a TPU, of one host or of all hosts of a pod; every core holds a copy of every variable.

    On a pod each host runs the same script, and JAX finds the others. Without a TPU this is an error that is also a
    ValueError; JAXTRIBUTE_SIMULATE=tpu:8 has CPU devices stand for TPU cores.

    What differs here: `run` also works outside of a `tf.function`, as a program of its own; and replicas are numbered along
    the links of the chips, unless a `DeviceAssignment` says otherwise.

    Source: `tf.distribute.TPUStrategy`.
    """

    has_components = True

    def __init__(
        self,
        tpu_cluster_resolver: TPUClusterResolver | None = None,
        experimental_device_assignment: DeviceAssignment | None = None,
        experimental_spmd_xla_partitioning: bool = False,
    ) -> None:
        """Makes the strategy; starts the TPU, and joins the other hosts if there are several.

        Args:
            tpu_cluster_resolver: says which TPU; None takes this machine's.
            experimental_device_assignment: which cores each replica gets; None for all cores, one replica on each. The
                cores of a replica divide values as `experimental_split_to_logical_devices` says.
            experimental_spmd_xla_partitioning: has `experimental_assign_to_logical_device` raise, as in TensorFlow. XLA's
                partitioner makes the programs either way.

        Raises:
            ValueError: there is no TPU (a `tf.errors.NotFoundError` as well).
            TypeError: the assignment is not one.

        Source: `tf.distribute.TPUStrategy`.
        """
        self._cluster_resolver = tpu_cluster_resolver or TPUClusterResolver("")
        require_tpu(type(self).__name__)
        join_tpu_hosts()
        self._device_assignment = experimental_device_assignment
        self.partitions_spmd = experimental_spmd_xla_partitioning
        super().__init__(_mesh(experimental_device_assignment))
        self.extended = TPUExtended(self)


class ExperimentalTPUStrategy(TPUStrategy):
    """`tf.distribute.TPUStrategy` as it was first called, with another name for the assignment.

    Source: `tf.distribute.experimental.TPUStrategy`.
    """

    def __init__(
        self,
        tpu_cluster_resolver: TPUClusterResolver | None = None,
        device_assignment: DeviceAssignment | None = None,
    ) -> None:
        """Makes the strategy; see `tf.distribute.TPUStrategy`.

        Args:
            tpu_cluster_resolver: as there.
            device_assignment: `experimental_device_assignment` of it.

        Raises:
            ValueError: as there.
        """
        super().__init__(tpu_cluster_resolver, device_assignment)


class TPUStrategyV1(TPUStrategy):
    """`tf.distribute.TPUStrategy` as TensorFlow 1 had it.

    Source: `tf.compat.v1.distribute.experimental.TPUStrategy`.
    """

    def __init__(
        self,
        tpu_cluster_resolver: TPUClusterResolver | None = None,
        steps_per_run: int | None = None,
        device_assignment: DeviceAssignment | None = None,
    ) -> None:
        """Makes the strategy; see `tf.distribute.TPUStrategy`.

        Args:
            tpu_cluster_resolver: as there.
            steps_per_run: remembered; `strategy.run_steps` runs several steps as one program.
            device_assignment: `experimental_device_assignment` of it.

        Raises:
            ValueError: as there.
        """
        self.steps_per_run = 1 if steps_per_run is None else steps_per_run
        super().__init__(tpu_cluster_resolver, device_assignment)


def _mesh(assignment: DeviceAssignment | None) -> Any:
    if assignment is None:
        is_default = kind_of(all_devices()[0]) == "tpu"
        return spmd.make_mesh(None if is_default else all_devices("tpu"))
    if not isinstance(assignment, DeviceAssignment):
        raise TypeError(
            f"A device assignment must be a tf.tpu.experimental.DeviceAssignment, but is {assignment!r:.80}. Make one with "
            "DeviceAssignment.build(topology, num_replicas=8)."
        )
    topology, shape = assignment.topology, assignment.core_assignment.shape[:2]
    devices = np.empty(shape, object)
    for replica, core in np.ndindex(*shape):
        devices[replica, core] = device_at(topology, assignment.coordinates(replica, core))
    if assignment.num_cores_per_replica == 1:
        return spmd.make_mesh(devices[:, 0].tolist())
    return mesh_of_cores(devices)
