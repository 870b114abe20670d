"""A TFJob of Kubeflow's training operator, which writes TF_CONFIG itself."""

from spmd.launch.job import Job
from spmd.launch.manifests.pod import Manifest, PodOptions, pod_spec, to_yaml


def render_tfjob(job: Job, options: PodOptions) -> str:
    """Writes a TFJob.

    Its restart policy restarts pods with exit codes from 128 on, signals included, and ends the job on lower
    ones, Python errors included.

    Args:
        job: the job.
        options: what the pods have.

    Returns:
        YAML.

    Source: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/tensorflow/
    """
    replicas: dict[str, Manifest] = {}
    for task in job.roles.all:
        replica = replicas.setdefault(
            task.type.capitalize(),
            {
                "replicas": 0,
                "restartPolicy": "ExitCode",
                "template": {
                    "spec": pod_spec(
                        job,
                        options,
                        container="tensorflow",  # the operator finds it, and its port, by these names
                        port_name="tfjob-port",
                        restart="",
                        with_devices=task.type != "evaluator",
                    )
                },
            },
        )
        replica["replicas"] += 1
    tfjob: Manifest = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": job.name},
        "spec": {
            "runPolicy": {"backoffLimit": job.max_restarts, "cleanPodPolicy": "Running"},
            # Else the job is over, and its pods are stopped, as soon as worker 0 has ended.
            "successPolicy": "AllWorkers",
            "tfReplicaSpecs": replicas,
        },
    }
    return to_yaml(job, "Kubeflow's training operator writes TF_CONFIG.", [tfjob])
