"""Where the workers of a Cloud TPU are: from its name, or from a list of addresses."""

import json
import os
import urllib.request
from typing import Any

from frontends.tf.distribute.cluster_resolver.google_api import discovery, signed_in

_SECONDS = 60  # for a request to the metadata server


class CloudTPU:
    """A Cloud TPU.

    Args:
        tpu: its name, or `"grpc://"` and the addresses of its workers, with commas between them. None or
            `""` takes what KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS, TPU_NAME or TPU_CONFIG says.
        zone: its zone; None asks the machine's metadata server.
        project: its project; None asks the machine's metadata server.
        credentials: as `GCEClusterResolver` takes them.
        service: what `googleapiclient.discovery.build("tpu", "v1")` gives, signed in already.
        discovery_url: where the service describes itself; TPU_API_DISCOVERY_URL overrides it.

    Raises:
        ValueError: nothing says which TPU, TPU_CONFIG is not a JSON object, or the metadata server does not
            answer.

    Source: `tensorflow/python/tpu/client/client.py`.
    """

    def __init__(
        self,
        tpu: Any = None,
        zone: str | None = None,
        project: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
    ) -> None:
        if isinstance(tpu, list):
            if len(tpu) != 1:
                raise ValueError(
                    f"One TPU must be specified, but there are {len(tpu)}: {tpu!r:.80}."
                )
            tpu = tpu[0]
        tpu = tpu or os.environ.get("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS") or os.environ.get("TPU_NAME")
        if not tpu:
            config = _tpu_config()
            tpu = config.get("tpu_node_name")
            zone, project = zone or config.get("zone"), project or config.get("project")
        if not tpu:
            raise ValueError(
                "Please provide a TPU Name to connect to: none was given, and neither TPU_NAME, "
                "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS nor TPU_CONFIG is set. On a machine that holds the TPU write "
                'TPUClusterResolver(tpu="local").'
            )
        self.name: str = tpu
        self._credentials = credentials
        self._service = service
        self._discovery_url = os.environ.get("TPU_API_DISCOVERY_URL") or discovery_url
        self._path = ""
        if not tpu.startswith("grpc://") and tpu != "local":
            project = project or _metadata("project/project-id")
            zone = zone or _metadata("instance/zone").split("/")[-1]
            self._path = f"projects/{project}/locations/{zone}/nodes/{tpu}"

    def addresses(self) -> list[str]:
        """Lists the addresses of the workers; asks the service if the TPU has a name.

        Raises:
            ValueError: the service does not know it.
            RuntimeError: it is not ready.
        """
        if not self._path:
            bare = [one.removeprefix("grpc://") for one in self.name.split(",")]
            return [one if ":" in one else f"{one}:8470" for one in bare]
        try:
            nodes = self._api().projects().locations().nodes()
            found = nodes.get(name=self._path).execute()
        except Exception as error:
            raise ValueError(
                f"Could not lookup TPU metadata from name {self.name!r}, which is {self._path}: {error}. Please "
                "doublecheck the tpu argument in the TPUClusterResolver constructor, zone and project."
            ) from error
        if found.get("state") != "READY":
            raise RuntimeError(
                f'TPU "{self.name}" is not yet ready; state: "{found.get("state")}". Wait until `gcloud compute '
                "tpus list` shows it as READY."
            )
        endpoints = found.get("networkEndpoints") or [found]
        return [f"{one['ipAddress']}:{one['port']}" for one in endpoints]

    def _api(self) -> Any:
        if self._service is not None:
            return self._service
        where = {"discoveryServiceUrl": self._discovery_url} if self._discovery_url else {}
        return discovery("TPUClusterResolver").build(
            "tpu", "v1", credentials=signed_in(self._credentials), cache_discovery=False, **where
        )


def _tpu_config() -> dict[str, Any]:
    text = os.environ.get("TPU_CONFIG") or "{}"
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError(
            f"The environment variable TPU_CONFIG must be a JSON object, but it is {text!r:.80}. Write export "
            """TPU_CONFIG='{"tpu_node_name": "my-tpu", "zone": "us-central1-b", "project": "my-project"}'."""
        )
    return found


def _metadata(path: str) -> str:
    host = os.environ.get("GCE_METADATA_HOST") or os.environ.get("GCE_METADATA_IP")
    url = f"http://{host or 'metadata.google.internal'}/computeMetadata/v1/{path}"
    request = urllib.request.Request(url, headers={"Metadata-Flavor": "Google"})
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as response:
            return response.read().decode()
    except OSError as error:
        raise ValueError(
            f"{url}, which knows the project and the zone of a machine at Google, cannot be read: {error}. "
            "Elsewhere write TPUClusterResolver(tpu, zone=..., project=...)."
        ) from error
