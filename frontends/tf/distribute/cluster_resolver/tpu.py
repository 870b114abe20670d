"""The resolver of Cloud TPUs."""

import os
from typing import Any

import jax

from frontends.tf.distribute.cluster_resolver.base import ClusterResolver, url
from frontends.tf.distribute.cluster_resolver.cloud_tpu import addresses, locate
from frontends.tf.distribute.cluster_resolver.google_api import google_service
from frontends.tf.train.cluster_spec import ClusterSpec


class TPUClusterResolver(ClusterResolver):
    """Looks up the workers of a Cloud TPU. A name, as opposed to addresses, needs the extra `gcp`.

    JAX runs on the machines that hold the TPU, where `tpu="local"` says so; it finds the other machines
    of a larger TPU by itself.

    Args:
        tpu: `"local"`, the TPU's name, or `"grpc://"` and the addresses of its workers, with commas between
            them. None or `""` takes what KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS, TPU_NAME or TPU_CONFIG says.
        zone: its zone; None asks the machine's metadata server.
        project: its project; None asks the machine's metadata server.
        job_name: job of its workers.
        coordinator_name: job of a coordinator to list as well.
        coordinator_address: address of the coordinator.
        credentials: an object of `google.auth`; `"default"` takes this machine's.
        service: what `googleapiclient.discovery.build("tpu", "v1")` gives, signed in already.
        discovery_url: where the service describes itself; TPU_API_DISCOVERY_URL overrides it.

    Raises:
        ValueError: nothing says which TPU, or a coordinator has no address.

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
        self._name, self._path = locate(tpu, zone, project)
        self._credentials = credentials
        self._service = service
        self._discovery_url = os.environ.get("TPU_API_DISCOVERY_URL") or discovery_url
        self._task_type = job_name
        self._task_id = 0
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
        """Makes a resolver; JAX starts the TPU when it is first used. The arguments are those of the class."""
        return TPUClusterResolver(tpu, zone, project)

    def cluster_spec(self) -> ClusterSpec:
        """Lists the workers; empty for `"local"`. Asks the service each time if the TPU has a name.

        Raises:
            ValueError: the service does not know the TPU.
            RuntimeError: it is not ready.
        """
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
        """Finds the address of a worker, the first one if none is named; `""` for `"local"`."""
        if self._name == "local":
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
        return {"TPU": sum(one.platform == "tpu" for one in jax.local_devices())}
