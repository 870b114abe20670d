"""A JobSet: Jobs that restart together, as tasks of `jaxtribute launch` do on one machine."""

from collections import Counter

from spmd.cluster import RESTART_LIMIT_VARIABLE, RESTART_VARIABLE
from spmd.launch.job import Job
from spmd.launch.manifests.kubernetes import (
    RESTARTS_ALONE,
    indexed_job,
    job_of_agents,
    job_of_pods_alone,
)
from spmd.launch.manifests.pod import (
    Manifest,
    PodOptions,
    annotation,
    metadata_of,
    network_policy,
    pod_spec,
    resource,
    task_environment,
    to_yaml,
    token_secret,
)
from spmd.launch.write_tf_config import cluster_of

_NETWORK = {"enableDNSHostnames": True, "publishNotReadyAddresses": True}


def render_jobset(job: Job, options: PodOptions) -> str:
    """Writes the YAML of a JobSet with a Job for each task type.

    When a pod that trains fails, all Jobs are recreated. That does not count as a restart if the pod asked for it
    with its exit code, or was taken away by the cluster. With parameter servers no Job is recreated: each restarts its
    pods, one by one. The deadline is that of each attempt.

    Source: https://jobset.sigs.k8s.io/docs/reference/jobset.v1alpha2/
    """
    if job.roles.min_workers is not None:
        return _render_elastic(job, options)
    tasks, alone = job.roles.cluster, job.roles.ps > 0
    # Hostnames of a JobSet: set, replicated Job, its index, the pod's index.
    hosts = [f"{job.name}-{task.task_type}-0-{task.task_index}.{job.name}" for task in tasks]
    cluster = cluster_of(tasks, [f"{host}:{job.port}" for host in hosts])
    # A JobSet does not bound the restarts that it ignores.
    limit = str(job.max_restarts + job.max_interruptions)
    attempts = [
        annotation(RESTART_VARIABLE, "jobset.sigs.k8s.io/restart-attempt"),
        {"name": RESTART_LIMIT_VARIABLE, "value": limit},
    ]
    replicated: list[Manifest] = []
    for kind, pods in Counter(task.task_type for task in job.roles.all).items():
        trains = kind != "evaluator"
        # An evaluator restarts by itself, in its pod: that must not stop the training.
        restart = "Never" if trains else "OnFailure"
        counted = RESTARTS_ALONE if alone and trains else attempts
        environment = [*task_environment(cluster, kind), *counted]
        template = {"spec": pod_spec(job, options, kind, kind, restart, environment)}
        if alone and trains:
            inner = job_of_pods_alone(job, kind, pods, template)
        else:
            failures, action = (0, "FailJob") if trains else (job.max_restarts, "")
            inner = indexed_job(job, pods, failures, action, template)
        replicated.append({"name": kind, "replicas": 1, "template": {"spec": inner}})
    rules = [
        {
            "name": "askedForRestart",
            "action": "RestartJobSetAndIgnoreMaxRestarts",
            "onJobFailureReasons": ["PodFailurePolicy"],
        },
        {
            "name": "tookTooLong",
            "action": "FailJobSet",
            "onJobFailureReasons": ["DeadlineExceeded"],
        },
    ]
    spec: Manifest = {
        **options.suspended,
        "network": _NETWORK,
        # The set is complete, and what still runs is stopped, when all tasks that train have succeeded, or the chief
        # that coordinates has.
        "successPolicy": {
            "operator": "All",
            "targetReplicatedJobs": ["chief"] if alone else list(cluster),
        },
        "failurePolicy": {"maxRestarts": 0}
        if alone
        else {"maxRestarts": job.max_restarts, "rules": rules},
        "replicatedJobs": replicated,
    }
    title = "Each pod starts again alone." if alone else "All Jobs of the set start again together."
    return _write(job, options, title, spec)


def _render_elastic(job: Job, options: PodOptions) -> str:
    """Writes a JobSet of one Job, whose pods each run an agent: the set gives them names, and Kueue admits it as a whole."""
    inner = job_of_agents(job, options, f"{job.name}-worker-0-0.{job.name}:{job.port}")
    spec: Manifest = {
        **options.suspended,
        "network": _NETWORK,
        "failurePolicy": {"maxRestarts": 0},
        "replicatedJobs": [{"name": "worker", "replicas": 1, "template": {"spec": inner}}],
    }
    return _write(job, options, "Each pod runs an agent, and starts again alone.", spec)


def _write(job: Job, options: PodOptions, title: str, spec: Manifest) -> str:
    jobset = resource("jobset.x-k8s.io/v1alpha2", "JobSet", metadata_of(job, options), spec)
    policy = network_policy(job, {"jobset.sigs.k8s.io/jobset-name": job.name})
    return to_yaml(job, title, [*token_secret(job), policy, jobset])
