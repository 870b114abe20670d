"""Kubernetes alone: an Indexed Job for each task type, and a headless Service that gives pods their names."""

from collections import Counter

from spmd.cluster import RETRYABLE_EXIT_CODE
from spmd.launch.job import Job
from spmd.launch.manifests.pod import (
    Manifest,
    PodOptions,
    pod_spec,
    resource,
    task_environment,
    to_yaml,
)
from spmd.launch.write_tf_config import cluster_of


def render_kubernetes(job: Job, options: PodOptions) -> str:
    """Writes the YAML of an Indexed Job for each task type, and of a headless Service.

    Kubernetes restarts only the pod that failed. The others notice that it is gone, and ask for a restart
    with their exit code, which does not count as a failure.

    Source: https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication/
    """
    labels = {"app.kubernetes.io/name": job.name, "app.kubernetes.io/managed-by": "jaxtribute"}
    networking: Manifest = {
        "clusterIP": "None",
        "selector": {"app.kubernetes.io/name": job.name},
        # Tasks connect to each other before they are ready.
        "publishNotReadyAddresses": True,
        "ports": [{"name": "training", "port": job.port}],
    }
    manifests = [resource("v1", "Service", {"name": job.name, "labels": labels}, networking)]
    training = job.roles.cluster
    hosts = [f"{job.name}-{task.task_type}-{task.task_index}.{job.name}" for task in training]
    cluster = cluster_of(training, [f"{host}:{job.port}" for host in hosts])
    for kind, pods in Counter(task.task_type for task in job.roles.all).items():
        pod = pod_spec(job, options, kind, kind, "Never", task_environment(cluster, kind))
        pod["subdomain"] = job.name
        template = {"metadata": {"labels": labels}, "spec": pod}
        # One fault can end every pod, and each counts.
        spec = indexed_job(pods, job.max_restarts * pods, "Ignore", template)
        metadata = {"name": f"{job.name}-{kind}", "labels": labels}
        manifests.append(resource("batch/v1", "Job", metadata, spec))
    title = "An Indexed Job for each task type, and the Service that names their pods."
    return to_yaml(job, title, manifests)


def indexed_job(pods: int, backoff_limit: int, action: str, template: Manifest) -> Manifest:
    """Makes the `JobSpec` of an Indexed Job.

    Args:
        pods: how many it runs.
        backoff_limit: how many of them may fail.
        action: for pods that ask for a restart or were taken away: `"Ignore"` to restart the pod without counting it,
            `"FailJob"` to leave that to the Job's controller, or "" to count it as any other.
        template: of the pods.

    Source: https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy
    """
    asked = {"onExitCodes": {"operator": "In", "values": [RETRYABLE_EXIT_CODE]}}
    taken = {"onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    rules = [{"action": action, **asked}, {"action": action, **taken}]
    return {
        "completionMode": "Indexed",
        "completions": pods,
        "parallelism": pods,
        "backoffLimit": backoff_limit,
        **({"podFailurePolicy": {"rules": rules}} if action else {}),
        "template": template,
    }
