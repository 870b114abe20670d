"""A RayCluster of KubeRay, which starts Ray on its pods, and a Job for the chief, which has the pods compute."""

import dataclasses
import json
from importlib import metadata

from spmd.cluster import RAY_ADDRESS_VARIABLE
from spmd.errors import LaunchError
from spmd.launch.job import Job
from spmd.launch.manifests.kubernetes import (
    RESTARTS_ALONE,
    indexed_job,
    job_of_pods_alone,
    labels_of,
)
from spmd.launch.manifests.pod import (
    Manifest,
    PodOptions,
    network_policy,
    pod_spec,
    resource,
    task_environment,
    to_yaml,
    token_secret,
)
from spmd.launch.write_tf_config import cluster_of

# KubeRay's default, and the first that knows tokens.
_GCS_PORT, _OLDEST_RAY = 6379, "2.52.0"
# What Ray's processes read when tasks start them, see `spmd.servers.remote.SETTINGS`.
_SETTINGS = {
    "KERAS_BACKEND": "jax",
    "RAY_AUTH_MODE": "token",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_health_check_period_ms": "3000",
    "RAY_health_check_timeout_ms": "10000",
    "RAY_health_check_failure_threshold": "5",
    "RAY_max_direct_call_object_size": "16000000",
    "RAY_task_rpc_inlined_bytes_limit": "64000000",
    "RAY_worker_niceness": "0",
}


def render_raycluster(job: Job, options: PodOptions) -> str:
    """Writes the YAML of a RayCluster with groups of workers and parameter servers, and of a Job for the chief.

    KubeRay replaces pods that are lost. The chief starts again after any error, so often; a pod of another group has no
    number, and is any of its kind.

    Raises:
        LaunchError: there are no parameter servers, or there is a queue.

    Source: https://docs.ray.io/en/latest/cluster/kubernetes/references/api.html
    """
    roles = job.roles
    if not roles.ps:
        raise LaunchError(
            "A RayCluster runs parameter servers and workers, but there is no --ps. Write --ps 1 --chief; synchronous training "
            "is rendered by --render jobset."
        )
    if options.queue:
        raise LaunchError(
            "Expected one resource for --queue, since Kueue admits each by itself, but the chief's Job and the RayCluster need each other. "
            "Write --render jobset, which it admits as one."
        )
    labels = labels_of(job)
    # Another one than those that KubeRay puts on its pods, and selects them by.
    own = {"jaxtribute-job": job.name}
    labelled = {"metadata": {"labels": own}}
    spec: Manifest = {"rayVersion": _ray_version()}
    if job.token:  # in the Secret of the cluster's name
        spec["authOptions"] = {"mode": "token"}
    head = _ray_pod(job, options, "head", "ray-head")
    head["containers"][0]["ports"] = [{"name": "gcs-server", "containerPort": _GCS_PORT}]
    spec["headGroupSpec"] = {
        "rayStartParams": {"num-cpus": "0"},
        "template": {**labelled, "spec": head},
    }
    spec["workerGroupSpecs"] = [
        {
            "groupName": kind,
            "replicas": pods,
            "minReplicas": pods,
            "maxReplicas": pods,
            # KubeRay writes it into a shell command.
            "rayStartParams": {"num-cpus": "0", "resources": json.dumps(json.dumps({kind: 1}))},
            "template": {**labelled, "spec": _ray_pod(job, options, kind, "ray-worker")},
        }
        for kind, pods in (("worker", roles.workers), ("ps", roles.ps))
    ]
    manifests = [
        *token_secret(job),
        network_policy(job, own),
        resource("ray.io/v1", "RayCluster", _named(job.name, labels), spec),
    ]
    # The addresses are names only.
    hosts = [f"{job.name}-{task.task_type}-{task.task_index}:{job.port}" for task in roles.cluster]
    cluster = cluster_of(roles.cluster, hosts)
    address = {"name": RAY_ADDRESS_VARIABLE, "value": f"{job.name}-head-svc:{_GCS_PORT}"}
    for kind in ("chief", *(["evaluator"] if roles.evaluator else [])):
        environment = [*task_environment(cluster, kind)]
        if kind == "chief":
            environment += [*RESTARTS_ALONE, address]
        template = {**labelled, "spec": pod_spec(job, options, kind, kind, "Never", environment)}
        if kind == "chief":
            inner = job_of_pods_alone(job, kind, 1, template)
        else:
            inner = indexed_job(job, 1, job.max_restarts, "Ignore", template)
        manifests.append(resource("batch/v1", "Job", _named(f"{job.name}-{kind}", labels), inner))
    title = "KubeRay starts Ray for workers and parameter servers; the chief uses it."
    return to_yaml(job, title, manifests)


def _ray_pod(job: Job, options: PodOptions, kind: str, container: str) -> Manifest:
    """Makes the pod of a Ray node, whose command and token KubeRay adds."""
    settings = {name: value for name, value in _SETTINGS.items() if name not in job.environment}
    environment = [{"name": name, "value": value} for name, value in settings.items()]
    spec = pod_spec(
        dataclasses.replace(job, token="", health_port=None),
        options,
        kind,
        container,
        "",
        environment,
    )
    for name in ("command", "ports"):
        del spec["containers"][0][name]
    return spec


def _named(name: str, labels: Manifest) -> Manifest:
    return {"name": name, "labels": labels}


def _ray_version() -> str:
    """Returns the version of Ray here, which the image is taken to have; read, not imported."""
    try:
        return metadata.version("ray")
    except metadata.PackageNotFoundError:
        return _OLDEST_RAY
