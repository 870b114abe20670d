"""The resolver of Cloud TPUs, and of the TPU that this machine has."""

import os
from typing import Any

from frontends.tf.distribute.cluster_resolver.base import ClusterResolver, url
from frontends.tf.distribute.cluster_resolver.cloud_tpu import addresses, locate
from frontends.tf.distribute.cluster_resolver.google_api import google_service
from frontends.tf.tpu.hardware_feature import HardwareFeature
from frontends.tf.tpu.system_metadata import TPUSystemMetadata, system_metadata
from frontends.tf.train.cluster_spec import ClusterSpec
from spmd.cluster import from_tf_config
from spmd.topology import has_tpu, local_devices, wanted_simulation

_PORT = 8470  # of TensorFlow's servers on TPU workers


class TPUClusterResolver(ClusterResolver):
    """Finds the TPU: the one that this machine has, or the workers of a Cloud TPU by name or address.

    JAX runs on the machines that hold the TPU, so there nothing has to be looked up: any name and none mean this machine's
    TPU, and JAX finds the other hosts of a larger one by itself. JAXTRIBUTE_SIMULATE=tpu:8 simulates one. Elsewhere this
    tells the addresses of a Cloud TPU, as in TensorFlow; a strategy needs the TPU itself.

    Args:
        tpu: `"local"`, the TPU's name, or `"grpc://"` and the addresses of its workers, with commas between
            them. None or `""` takes this machine's TPU, or what KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS, TPU_NAME or TPU_CONFIG
            says.
        zone: its zone; None asks the machine's metadata server.
        project: its project; None asks the machine's metadata server.
        job_name: job of its workers.
        coordinator_name: job of a coordinator to list as well.
        coordinator_address: address of the coordinator.
        credentials: an object of `google.auth`; `"default"` takes this machine's.
        service: what `googleapiclient.discovery.build("tpu", "v1")` gives, signed in already.
        discovery_url: where the service describes itself; TPU_API_DISCOVERY_URL overrides it.

    Raises:
        ValueError: this machine has no TPU and nothing says which, as in TensorFlow, so that scripts can go on without one;
            or a coordinator has no address.

    Source: `tf.distribute.cluster_resolver.TPUClusterResolver`.
    """

    def __init__(
        self,
        tpu: Any = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
    ) -> None:
        self._hosts = None if tpu == "local" or _is_address(tpu) else hosts_here()
        self._name, self._path = (
            locate(tpu, zone, project) if self._hosts is None else (str(tpu or "local"), "")
        )
        self._credentials = credentials
        self._service = service
        self._discovery_url = os.environ.get("TPU_API_DISCOVERY_URL") or discovery_url
        self._task_type = job_name
        self._task_id = 0
        self._topology: Any = None
        if coordinator_name and not coordinator_address:
            raise ValueError(
                f"The coordinator {coordinator_name!r} has no address, and no server of TensorFlow is started "
                'here to be it. Write coordinator_address="host:port", or leave coordinator_name out.'
            )
        self._coordinator = {coordinator_name: [coordinator_address]} if coordinator_address else {}

    @staticmethod
    def connect(
        tpu: Any = None, zone: str | None = None, project: str | None = None
    ) -> "TPUClusterResolver":
        """Makes a resolver, joins the TPU's other hosts if there are several, and starts the TPU.

        Args:
            tpu: as for the class.
            zone: as for the class.
            project: as for the class.

        Raises:
            ValueError: nothing says which TPU.
            tf.errors.NotFoundError: this machine has none. It is a ValueError as well.

        Source: `tf.distribute.cluster_resolver.TPUClusterResolver.connect`.
        """
        from frontends.tf.tpu.system import initialize_tpu_system  # which imports strategies

        resolver = TPUClusterResolver(tpu, zone, project)
        initialize_tpu_system(resolver)  # joins the hosts
        return resolver

    def cluster_spec(self) -> ClusterSpec:
        """Lists the workers; empty for `"local"`, as in TensorFlow. Asks the service each time for a TPU of elsewhere.

        For this machine's TPU these are its hosts, with TensorFlow's port, on which nothing listens here.

        Raises:
            ValueError: the service does not know the TPU.
            RuntimeError: it is not ready.
        """
        if self._hosts is not None:
            return ClusterSpec({self.task_type: self._hosts} | self._coordinator)
        if self._name == "local":
            return ClusterSpec({})
        workers = addresses(self._name, self._path, self._sign_in)
        return ClusterSpec({self.task_type: workers} | self._coordinator)

    def _sign_in(self) -> Any:
        described = {"discoveryServiceUrl": self._discovery_url} if self._discovery_url else {}
        return self._service or google_service(
            "tpu", self._credentials, "TPUClusterResolver", cache_discovery=False, **described
        )

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Finds the address of a worker, the first one if none is named; `""` for this machine's TPU."""
        if self._name == "local" or self._hosts is not None:
            return ""
        if task_type is None or task_id is None:
            task_type, task_id = self.task_type, self.task_id or 0
        return url(self.cluster_spec().task_address(str(task_type), task_id), "grpc")

    def get_master(self) -> str:
        """Finds the address of the first worker; see `master`."""
        return self.master()

    def get_job_name(self) -> str | None:
        """Names the job of the workers."""
        return self.task_type

    def get_coordination_service_leader(self) -> str:
        """Names the task that hosts the coordination service."""
        return f"/job:{self.get_job_name()}/task:0"

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        """Counts the TPU cores of this machine; starts JAX's backend."""
        return {"TPU": len(local_devices("tpu"))}

    def get_tpu_system_metadata(self) -> TPUSystemMetadata:
        """Tells how many cores and hosts this machine's TPU has; starts JAX's backend.

        Raises:
            tf.errors.NotFoundError: there is no TPU. It is a ValueError as well.

        Source: `tf.distribute.cluster_resolver.TPUClusterResolver.get_tpu_system_metadata`.
        """
        from frontends.tf.tpu.system import require_tpu  # which imports strategies

        require_tpu("get_tpu_system_metadata")
        return system_metadata()

    def set_tpu_topology(self, serialized_tpu_topology: Any) -> None:
        """Remembers the topology that `initialize_tpu_system` found."""
        self._topology = serialized_tpu_topology

    @property
    def tpu_hardware_feature(self) -> HardwareFeature | None:
        """Features of the TPU; None before `initialize_tpu_system`."""
        return None if self._topology is None else HardwareFeature()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def __deepcopy__(self, memo: object) -> "TPUClusterResolver":
        return self  # as in TensorFlow: options that hold it are copied


def hosts_here() -> list[str] | None:
    """Lists the hosts of the TPU that this machine is a part of; None without one. Starts no backend."""
    if not has_tpu():
        return None
    if wanted_simulation() is not None:
        cluster = from_tf_config(os.environ)
        tasks = () if cluster is None else cluster.processes
        return [str(task.address) for task in tasks] or [f"localhost:{_PORT}"]
    names = os.environ.get("TPU_WORKER_HOSTNAMES", "").split(",")
    # libtpu writes a sentence into the variable where it cannot find out.
    named = [name for name in map(str.strip, names) if name and " " not in name]
    return [name if ":" in name else f"{name}:{_PORT}" for name in named or ["localhost"]]


def _is_address(tpu: Any) -> bool:
    return isinstance(tpu, str) and tpu.startswith("grpc://")
