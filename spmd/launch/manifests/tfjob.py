"""A TFJob of Kubeflow's training operator, which writes TF_CONFIG itself."""

from collections import Counter

from spmd.launch.job import Job
from spmd.launch.manifests.pod import (
    Manifest,
    PodOptions,
    metadata_of,
    network_policy,
    pod_spec,
    resource,
    to_yaml,
    token_secret,
)

_NAMES = {"ps": "PS"}


def render_tfjob(job: Job, options: PodOptions) -> str:
    """Writes the YAML of a TFJob.

    Its restart policy restarts pods with exit codes from 128 on, signals included, and ends the job on lower
    ones, Python errors included. With parameter servers the job is over when the chief has ended, which starts again
    after any error, in its pod: it fails when a parameter server is lost.

    Source: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/tensorflow/
    """
    replicas: dict[str, Manifest] = {}
    for kind, count in Counter(task.task_type for task in job.roles.all).items():
        # The operator finds the container and its port by these names.
        pod = pod_spec(job, options, kind, "tensorflow", restart="", port_name="tfjob-port")
        coordinates = job.roles.ps > 0 and kind == "chief"
        replicas[_NAMES.get(kind, kind.capitalize())] = {
            "replicas": count,
            "restartPolicy": "OnFailure" if coordinates else "ExitCode",
            "template": {"spec": pod},
        }
    # The operator counts restarts within pods, the chief's, and gives up when they reach the limit.
    limit = job.max_restarts + (job.roles.ps > 0)
    spec: Manifest = {
        "runPolicy": {
            **options.suspended,
            "backoffLimit": limit,
            "activeDeadlineSeconds": job.deadline_seconds,
            "cleanPodPolicy": "Running",
        },
        # Else the job is over, and its pods are stopped, as soon as worker 0 has ended.
        **({} if job.roles.ps else {"successPolicy": "AllWorkers"}),
        "tfReplicaSpecs": replicas,
    }
    tfjob = resource("kubeflow.org/v1", "TFJob", metadata_of(job, options), spec)
    policy = network_policy(job, {"training.kubeflow.org/job-name": job.name})
    title = "Kubeflow's training operator writes TF_CONFIG."
    return to_yaml(job, title, [*token_secret(job), policy, tfjob])
