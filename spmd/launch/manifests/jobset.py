"""A JobSet: Jobs that restart together, as tasks of `jaxtribute launch` do on one machine."""

from collections import Counter

from spmd.launch.job import RESTART_VARIABLE, Job
from spmd.launch.manifests.kubernetes import indexed_job
from spmd.launch.manifests.pod import (
    Manifest,
    PodOptions,
    annotation,
    pod_spec,
    resource,
    task_environment,
    to_yaml,
)
from spmd.launch.write_tf_config import cluster_of


def render_jobset(job: Job, options: PodOptions) -> str:
    """Writes the YAML of a JobSet with a Job for each task type.

    When a pod that trains fails, all Jobs are recreated. That does not count as a restart if the pod asked for it
    with its exit code, or was taken away by the cluster.

    Source: https://jobset.sigs.k8s.io/docs/reference/jobset.v1alpha2/
    """
    training = job.roles.cluster
    # Hostnames of a JobSet: set, replicated Job, its index, the pod's index.
    hosts = [f"{job.name}-{task.task_type}-0-{task.task_index}.{job.name}" for task in training]
    cluster = cluster_of(training, [f"{host}:{job.port}" for host in hosts])
    attempt = annotation(RESTART_VARIABLE, "jobset.sigs.k8s.io/restart-attempt")
    replicated: list[Manifest] = []
    for kind, pods in Counter(task.task_type for task in job.roles.all).items():
        trains = kind != "evaluator"
        # An evaluator restarts by itself, in its pod: that must not stop the training.
        restart = "Never" if trains else "OnFailure"
        environment = [*task_environment(cluster, kind), attempt]
        pod = pod_spec(job, options, kind, kind, restart, environment)
        limit, action = (0, "FailJob") if trains else (job.max_restarts, "")
        template = {"spec": indexed_job(pods, limit, action, {"spec": pod})}
        replicated.append({"name": kind, "replicas": 1, "template": template})
    rule = {
        "name": "askedForRestart",
        "action": "RestartJobSetAndIgnoreMaxRestarts",
        "onJobFailureReasons": ["PodFailurePolicy"],
    }
    spec: Manifest = {
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        # The set is complete, and its evaluator is stopped, when all tasks that train have succeeded.
        "successPolicy": {"operator": "All", "targetReplicatedJobs": list(cluster)},
        "failurePolicy": {"maxRestarts": job.max_restarts, "rules": [rule]},
        "replicatedJobs": replicated,
    }
    jobset = resource("jobset.x-k8s.io/v1alpha2", "JobSet", {"name": job.name}, spec)
    return to_yaml(job, "All Jobs of the set start again together.", [jobset])
