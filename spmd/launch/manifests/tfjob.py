"""A TFJob of Kubeflow's training operator, which writes TF_CONFIG itself."""

from collections import Counter

from spmd.launch.job import Job
from spmd.launch.manifests.pod import Manifest, PodOptions, pod_spec, resource, to_yaml


def render_tfjob(job: Job, options: PodOptions) -> str:
    """Writes the YAML of a TFJob.

    Its restart policy restarts pods with exit codes from 128 on, signals included, and ends the job on lower
    ones, Python errors included.

    Source: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/tensorflow/
    """
    replicas: dict[str, Manifest] = {}
    for kind, count in Counter(task.task_type for task in job.roles.all).items():
        # The operator finds the container and its port by these names.
        pod = pod_spec(job, options, kind, "tensorflow", restart="", port_name="tfjob-port")
        replicas[kind.capitalize()] = {
            "replicas": count,
            "restartPolicy": "ExitCode",
            "template": {"spec": pod},
        }
    spec: Manifest = {
        "runPolicy": {"backoffLimit": job.max_restarts, "cleanPodPolicy": "Running"},
        # Else the job is over, and its pods are stopped, as soon as worker 0 has ended.
        "successPolicy": "AllWorkers",
        "tfReplicaSpecs": replicas,
    }
    tfjob = resource("kubeflow.org/v1", "TFJob", {"name": job.name}, spec)
    return to_yaml(job, "Kubeflow's training operator writes TF_CONFIG.", [tfjob])
