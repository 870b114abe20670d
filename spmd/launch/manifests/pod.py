"""The pod that runs one task on Kubernetes, and the YAML of all manifests.

A *manifest* here is made of plain dictionaries and lists, as `kubectl` reads them.
"""

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from spmd.cluster import ERROR_FILE_VARIABLE, HEALTH_VARIABLE
from spmd.errors import LaunchError
from spmd.launch.checks import check_number
from spmd.launch.job import Job
from spmd.launch.token import TOKEN_PATH_VARIABLE

Manifest = dict[str, Any]

# The key under which KubeRay looks for a token, too.
TOKEN_KEY = "auth_token"
_IMAGE = re.compile(r"[A-Za-z0-9][-A-Za-z0-9._/:@+]*")
# Names of Kubernetes: of resources and labels, values of labels, claims.
_LABEL = re.compile(r"(?=.{0,63}$)([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_CLAIM = re.compile(r"(?=.{1,253}$)[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_KEY = re.compile(
    r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
)
_TERMINATION_LOG = "/dev/termination-log"
_LAST_USER = (1 << 31) - 1
_TOKEN_VOLUME, _TOKEN_FOLDER = "jaxtribute-token", "/var/run/jaxtribute"


@dataclasses.dataclass(frozen=True)
class PodOptions:
    """Settings of a pod besides the command.

    Attributes:
        image: the container image, with Python, the script and jaxtribute in it.
        resource: the cluster's name for the devices, such as `"google.com/tpu"`.
        volumes: mount paths by persistent volume claim; checkpoints belong on one that all pods reach.
        node_selector: labels of the nodes to run on.
        user: number of the user that they run as, who has no privileges; None for the image's.
        queue: Kueue's queue that admits the job; empty if none does.

    Raises:
        LaunchError: the image is missing, or a name is none that Kubernetes takes.
    """

    image: str
    resource: str = "nvidia.com/gpu"
    volumes: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    node_selector: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    user: int | None = None
    queue: str = ""

    def __post_init__(self) -> None:
        if not _IMAGE.fullmatch(self.image):
            found = f"--image is {self.image!a}" if self.image else "there is none"
            raise LaunchError(
                f"Expected the image that the pods run, but {found}. Write --image REGISTRY/NAME:TAG."
            )
        if not _KEY.fullmatch(self.resource):
            raise LaunchError(
                f"Expected the name of a resource, but --resource is {self.resource!a}. Write, for example, "
                "--resource google.com/tpu."
            )
        if self.user is not None:
            check_number("--user", self.user, 1, _LAST_USER)
        if self.queue and not _CLAIM.fullmatch(self.queue):
            raise LaunchError(
                f"Expected the name of a queue, of lower-case letters, digits, dashes and dots, but --queue is {self.queue!a}."
            )
        for claim, path in self.volumes.items():
            if not _CLAIM.fullmatch(claim) or not path.startswith("/") or set(path) & set(":\0\n"):
                raise LaunchError(
                    f"Expected the name of a claim, of lower-case letters, digits, dashes and dots, and a path from the root, but "
                    f"--volume is {f'{claim}:{path}'!a}. Write, for example, --volume checkpoints:/checkpoints."
                )
        for key, value in self.node_selector.items():
            if not _KEY.fullmatch(key) or not _LABEL.fullmatch(value):
                raise LaunchError(
                    f"Expected a label of nodes, but --node-selector is {f'{key}={value}'!a}. Write, for example, "
                    "--node-selector cloud.google.com/gke-tpu-topology=2x4."
                )

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the job that Kueue admits."""
        return {"kueue.x-k8s.io/queue-name": self.queue} if self.queue else {}

    @property
    def suspended(self) -> Manifest:
        """The field of a job that has it wait for Kueue."""
        return {"suspend": True} if self.queue else {}


def pod_spec(
    job: Job,
    options: PodOptions,
    kind: str,
    container: str,
    restart: str,
    environment: Sequence[Manifest] = (),
    port_name: str = "training",
    command: Sequence[str] = (),
) -> Manifest:
    """Makes the `PodSpec` of a task.

    Args:
        job: the job.
        options: settings of the pod.
        kind: the task type; an evaluator gets no devices, nor do a parameter server and the chief of some.
        container: name of its container.
        restart: its restart policy, or "" if another controller sets it.
        environment: further variables, as Kubernetes writes them.
        port_name: name of its port.
        command: what it runs, if that is not the command of the job.

    Source: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
    """
    computes = kind in {task.task_type for task in job.roles.computing}
    # A chief may compute too, but here it has no devices of the kind that the workers have.
    values = job.variables_of(kind if computes or not job.roles.ps else "ps")
    variables = [{"name": name, "value": _literal(value)} for name, value in values.items()]
    variables += [
        _from_secret(name, f"{job.name}-env") for name in job.references if name not in values
    ]
    main: Manifest = {
        "name": container,
        "image": options.image,
        "command": [_literal(word) for word in command or job.command],
        "env": [*variables, *environment],
        # Why the task has ended, in `kubectl describe`.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "ports": [{"name": port_name, "containerPort": job.port}],
    }
    if ERROR_FILE_VARIABLE not in {each["name"] for each in main["env"]}:
        main["env"].append({"name": ERROR_FILE_VARIABLE, "value": _TERMINATION_LOG})
    if job.health_port is not None:
        main["env"].append({"name": HEALTH_VARIABLE, "value": f"0.0.0.0:{job.health_port}"})
        main["ports"].append({"name": "health", "containerPort": job.health_port})
        # The watchdog ends tasks that hang; this ends one that cannot even say so.
        main["livenessProbe"] = {
            "httpGet": {"path": "/healthz", "port": "health"},
            "periodSeconds": 30,
            "timeoutSeconds": 10,
            "failureThreshold": 10,
        }
        # Nobody answers until the script joins its cluster, or trains: half an hour for what comes before.
        main["startupProbe"] = {
            **main["livenessProbe"],
            "periodSeconds": 10,
            "failureThreshold": 180,
        }
    spec: Manifest = {"restartPolicy": restart} if restart else {}
    spec["terminationGracePeriodSeconds"] = job.grace_seconds
    if options.node_selector:
        spec["nodeSelector"] = dict(options.node_selector)
    # What every image can do without. Root's rights over files of others are not among it: volumes may need them.
    of_pod: Manifest = {"seccompProfile": {"type": "RuntimeDefault"}}
    of_container: Manifest = {"allowPrivilegeEscalation": False}
    if options.user is not None:
        # The group owns the volumes' files.
        of_pod |= {"runAsNonRoot": True, "runAsUser": options.user, "fsGroup": options.user}
        of_container["capabilities"] = {"drop": ["ALL"]}
    spec["securityContext"], main["securityContext"] = of_pod, of_container
    spec["containers"] = [main]
    if computes and job.devices_per_worker is not None and not job.on_cpu:
        main["resources"] = {"limits": {options.resource: job.devices_per_worker}}
    for claim, path in options.volumes.items():
        volume = {"name": claim, "persistentVolumeClaim": {"claimName": claim}}
        spec.setdefault("volumes", []).append(volume)
        main.setdefault("volumeMounts", []).append({"name": claim, "mountPath": path})
    if job.token:
        volume = {"name": _TOKEN_VOLUME, "secret": {"secretName": job.name}}
        spec.setdefault("volumes", []).append(volume)
        mount = {"name": _TOKEN_VOLUME, "mountPath": _TOKEN_FOLDER, "readOnly": True}
        main.setdefault("volumeMounts", []).append(mount)
        path = f"{_TOKEN_FOLDER}/{TOKEN_KEY}"
        main["env"].append({"name": TOKEN_PATH_VARIABLE, "value": path})
    return spec


def metadata_of(job: Job, options: PodOptions) -> Manifest:
    """Makes the metadata of a resource that is the whole job, which Kueue may admit."""
    return {"name": job.name, **({"labels": options.labels} if options.labels else {})}


def network_policy(job: Job, labels: Mapping[str, str]) -> Manifest:
    """Makes the NetworkPolicy by which only the pods of a job, which have these labels, connect to each other.

    Nothing else guards the ports of JAX's coordination service and of collectives.

    Source: https://kubernetes.io/docs/concepts/services-networking/network-policies/
    """
    pods = {"matchLabels": dict(labels)}
    ingress: list[Manifest] = [{"from": [{"podSelector": pods}]}]
    if job.health_port is not None:  # for Prometheus, wherever it runs
        ingress.append({"ports": [{"port": job.health_port}]})
    spec: Manifest = {"podSelector": pods, "policyTypes": ["Ingress"], "ingress": ingress}
    return resource("networking.k8s.io/v1", "NetworkPolicy", {"name": job.name}, spec)


def token_secret(job: Job) -> list[Manifest]:
    """Makes the Secret with the token of a job, if it has one; KubeRay looks for that of its cluster under this name."""
    if not job.token:
        return []
    return [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": job.name},
            "type": "Opaque",
            "stringData": {TOKEN_KEY: job.token},
        }
    ]


def task_environment(cluster: Mapping[str, Sequence[str]], kind: str) -> list[Manifest]:
    """Makes the TF_CONFIG of an Indexed Job's pods of one task type; Kubernetes fills in the index of each."""
    # The index must come first: Kubernetes expands `$(NAME)` from earlier variables only, and appends its own
    # variable of this name.
    config = json.dumps({"cluster": cluster, "task": {"type": kind, "index": "INDEX"}})
    return [
        annotation("JOB_COMPLETION_INDEX", "batch.kubernetes.io/job-completion-index"),
        {"name": "TF_CONFIG", "value": config.replace('"INDEX"', "$(JOB_COMPLETION_INDEX)")},
    ]


def _from_secret(variable: str, secret: str) -> Manifest:
    """Makes an environment variable with the value that a Secret has under its name."""
    return {"name": variable, "valueFrom": {"secretKeyRef": {"name": secret, "key": variable}}}


def annotation(variable: str, name: str) -> Manifest:
    """Makes an environment variable with the value of an annotation of the pod."""
    path = f"metadata.annotations['{name}']"
    return {"name": variable, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def resource(version: str, kind: str, metadata: Manifest, spec: Manifest) -> Manifest:
    """Makes a Kubernetes resource of the four parts that each has."""
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def to_yaml(job: Job, title: str, manifests: Sequence[Manifest]) -> str:
    """Writes manifests as YAML, one document each, below a comment with a title."""
    text = yaml.dump_all(
        manifests, Dumper=_Dumper, sort_keys=False, width=100_000, allow_unicode=True
    )
    head = f"# {job.title}. {title}\n"
    if job.references:
        head += (
            f"# First make the Secret with {', '.join(job.references)}, from a file with a line NAME=VALUE for each:\n"
            f"#   kubectl create secret generic {job.name}-env --from-env-file=FILE\n"
        )
    if job.token:
        head += "# It has the secret of the job, of which each rendering has another one: keep it as you would keep a password.\n"
    return head + text


class _Dumper(yaml.SafeDumper):
    """Repeats values that occur twice, instead of YAML's anchors and aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _literal(text: str) -> str:
    """Keeps Kubernetes from expanding `$(NAME)` in what the user wrote."""
    return text.replace("$(", "$$(")
