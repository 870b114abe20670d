"""The pod that runs one task on Kubernetes, and the YAML of all manifests.

A *manifest* here is made of plain dictionaries and lists, as `kubectl` reads them.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from spmd.errors import LaunchError
from spmd.launch.job import Job

Manifest = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class PodOptions:
    """Settings of a pod besides the command.

    Attributes:
        image: the container image, with Python, the script and jaxtribute in it.
        resource: the cluster's name for the devices, such as `"google.com/tpu"`.
        volumes: mount paths by persistent volume claim; checkpoints belong on one that all pods reach.
        node_selector: labels of the nodes to run on.

    Raises:
        LaunchError: the image is empty.
    """

    image: str
    resource: str = "nvidia.com/gpu"
    volumes: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    node_selector: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        if not self.image:
            raise LaunchError(
                "Expected the image that the pods run, but there is none. Write --image REGISTRY/NAME:TAG."
            )


def pod_spec(
    job: Job,
    options: PodOptions,
    container: str,
    restart: str,
    environment: Sequence[Manifest] = (),
    with_devices: bool = True,
    port_name: str = "training",
) -> Manifest:
    """Makes the specification of a pod.

    Args:
        job: the job.
        options: settings of the pod.
        container: name of its container.
        restart: its restart policy, or "" if another controller sets it.
        environment: further variables, as Kubernetes writes them.
        with_devices: whether it gets the devices of a task that trains.
        port_name: name of its port.

    Returns:
        A `PodSpec`.

    Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
    """
    variables = [{"name": name, "value": _literal(value)} for name, value in job.variables.items()]
    main: Manifest = {
        "name": container,
        "image": options.image,
        "command": [_literal(word) for word in job.command],
        "env": [*variables, *environment],
        "ports": [{"name": port_name, "containerPort": job.port}],
    }
    spec: Manifest = {"restartPolicy": restart} if restart else {}
    spec["terminationGracePeriodSeconds"] = job.grace_seconds
    if options.node_selector:
        spec["nodeSelector"] = dict(options.node_selector)
    spec["containers"] = [main]
    if with_devices and job.devices_per_worker is not None and not job.on_cpu:
        main["resources"] = {"limits": {options.resource: job.devices_per_worker}}
    if options.volumes:
        main["volumeMounts"] = [
            {"name": claim, "mountPath": path} for claim, path in options.volumes.items()
        ]
        spec["volumes"] = [
            {"name": claim, "persistentVolumeClaim": {"claimName": claim}}
            for claim in options.volumes
        ]
    return spec


def task_environment(cluster: Mapping[str, Sequence[str]], kind: str) -> list[Manifest]:
    """Makes the TF_CONFIG of an Indexed Job's pods, into which Kubernetes fills the index of each.

    Args:
        cluster: addresses by task type.
        kind: the task type of these pods.

    Returns:
        Two variables: the pod's index, and TF_CONFIG.
    """
    # The index must come first: Kubernetes expands `$(NAME)` from earlier variables only, and appends its own
    # variable of this name.
    task = {"type": kind, "index": "INDEX"}
    config = json.dumps({"cluster": cluster, "task": task})
    return [
        {
            "name": "JOB_COMPLETION_INDEX",
            "valueFrom": {
                "fieldRef": {
                    "fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"
                }
            },
        },
        {"name": "TF_CONFIG", "value": config.replace('"INDEX"', "$(JOB_COMPLETION_INDEX)")},
    ]


def to_yaml(job: Job, title: str, manifests: Sequence[Manifest]) -> str:
    """Writes manifests.

    Args:
        job: the job, for the comment at the top.
        title: what the manifests are, for the same comment.
        manifests: one for each document.

    Returns:
        YAML that `kubectl apply --filename -` takes.
    """
    text = yaml.dump_all(
        manifests, Dumper=_Dumper, sort_keys=False, width=100_000, allow_unicode=True
    )
    return f"# {job.title}. {title}\n{text}"


class _Dumper(yaml.SafeDumper):
    """Repeats values that occur twice, instead of YAML's anchors and aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _literal(text: str) -> str:
    """Keeps Kubernetes from expanding `$(NAME)` in what a person wrote."""
    return text.replace("$(", "$$(")
