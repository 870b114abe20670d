"""The resolver that asks Kubernetes."""

import enum
from collections.abc import Mapping, Sequence
from typing import Any

from frontends.tf.distribute.cluster_resolver.base import AddressResolver
from frontends.tf.train.cluster_spec import ClusterSpec

_SECONDS = 60  # for a request to the API server


class KubernetesExecutableLocation(enum.Enum):
    """Where the script runs, which decides how it signs in.

    Source: `tf.distribute.cluster_resolver.KubernetesExecutableLocation`.
    """

    WITHIN_CLUSTER = 0
    OFF_CLUSTER = 1


class KubernetesClusterResolver(AddressResolver):
    """Looks up the pods of each job by their labels.

    Addresses are those of the pods' hosts, as in TensorFlow, so the pods need `hostNetwork: true`. It does not
    know which pod this is: set `task_type` and `task_id`. Needs the extra `kubernetes`.

    Args:
        job_to_label_mapping: label selectors by job; None means `{"worker": ["job-name=tensorflow"]}`.
        tf_server_port: port of every task.
        rpc_layer: protocol to put in front of addresses.
        override_client: a `kubernetes.client.CoreV1Api` that is signed in already.
        executable_location: where the script runs.

    Raises:
        ImportError: the client is not installed.
        ValueError: `executable_location` is not a `KubernetesExecutableLocation`.

    Source: `tf.distribute.cluster_resolver.KubernetesClusterResolver`.
    """

    def __init__(
        self,
        job_to_label_mapping: Mapping[str, Sequence[str]] | None = None,
        tf_server_port: int = 8470,
        rpc_layer: str | None = "grpc",
        override_client: Any = None,
        executable_location: KubernetesExecutableLocation = KubernetesExecutableLocation.WITHIN_CLUSTER,
    ) -> None:
        self._client = override_client or _client(executable_location)
        self._selectors = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port = tf_server_port
        self._rpc_layer = rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """Asks the API server for the pods, each time.

        Returns:
            For each job the pods of each selector, by name.

        Raises:
            RuntimeError: a pod is not running.
        """
        return ClusterSpec(
            {
                job: [address for selector in selectors for address in self._addresses(selector)]
                for job, selectors in self._selectors.items()
            }
        )

    def _addresses(self, selector: str) -> list[str]:
        pods = self._client.list_pod_for_all_namespaces(
            label_selector=selector, _request_timeout=_SECONDS
        )
        found: list[str] = []
        for pod in sorted(pods.items, key=lambda pod: pod.metadata.name):
            if pod.status.phase != "Running":
                raise RuntimeError(
                    f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}". It was found by the '
                    f"label selector {selector!r}. Wait until `kubectl get pods --selector {selector}` shows all "
                    "as Running."
                )
            found.append(f"{pod.status.host_ip}:{self._port}")
        return found


def _client(location: KubernetesExecutableLocation) -> Any:
    try:
        from kubernetes import client, config
    except ImportError as error:
        raise ImportError(
            "KubernetesClusterResolver needs the Kubernetes client for Python, which is not installed. Run: "
            'pip install "jaxtribute[kubernetes]"'
        ) from error
    sign_in = {
        KubernetesExecutableLocation.OFF_CLUSTER: config.load_kube_config,
        KubernetesExecutableLocation.WITHIN_CLUSTER: config.load_incluster_config,
    }
    if location not in sign_in:
        raise ValueError(
            f"The executable location provided is invalid: {location!r}. Write executable_location="
            "tf.distribute.cluster_resolver.KubernetesExecutableLocation.WITHIN_CLUSTER, or OFF_CLUSTER."
        )
    configuration = client.Configuration()
    sign_in[location](client_configuration=configuration)
    return client.CoreV1Api(client.ApiClient(configuration))
