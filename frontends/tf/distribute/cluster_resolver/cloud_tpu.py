"""Where the workers of a Cloud TPU are: from its name, or from a list of addresses."""

import json
import os
import urllib.request
from collections.abc import Callable
from typing import Any

_SECONDS = 60  # for a request to the metadata server


def locate(tpu: Any, zone: str | None, project: str | None) -> tuple[str, str]:
    """Finds out which TPU is meant; the arguments are those of `TPUClusterResolver`.

    Returns:
        Its name or addresses; and its path in the service, or `""` if the service need not be asked.

    Raises:
        ValueError: nothing says which TPU, TPU_CONFIG is not a JSON object, or the metadata server does not
            answer.

    Source: `tensorflow/python/tpu/client/client.py`.
    """
    if isinstance(tpu, list):
        if len(tpu) != 1:
            raise ValueError(f"One TPU must be specified, but there are {len(tpu)}: {tpu!r:.80}.")
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
    if tpu.startswith("grpc://") or tpu == "local":
        return tpu, ""
    project = project or _metadata("project/project-id")
    zone = zone or _metadata("instance/zone").split("/")[-1]
    return tpu, f"projects/{project}/locations/{zone}/nodes/{tpu}"


def addresses(name: str, path: str, sign_in: Callable[[], Any]) -> list[str]:
    """Lists the addresses of a TPU's workers.

    Args:
        name: its name or addresses, from `locate`.
        path: its path in the service, from `locate`.
        sign_in: returns the service, if it must be asked.

    Raises:
        ValueError: the service does not know the TPU.
        RuntimeError: it is not ready.
    """
    if not path:
        bare = [one.removeprefix("grpc://") for one in name.split(",")]
        return [one if ":" in one else f"{one}:8470" for one in bare]
    try:
        found = sign_in().projects().locations().nodes().get(name=path).execute()
    except Exception as error:
        raise ValueError(
            f"Could not lookup TPU metadata from name {name!r}, which is {path}: {error}. Please "
            "doublecheck the tpu argument in the TPUClusterResolver constructor, zone and project."
        ) from error
    if found.get("state") != "READY":
        raise RuntimeError(
            f'TPU "{name}" is not yet ready; state: "{found.get("state")}". Wait until `gcloud compute '
            "tpus list` shows it as READY."
        )
    endpoints = found.get("networkEndpoints") or [found]
    return [f"{one['ipAddress']}:{one['port']}" for one in endpoints]


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
