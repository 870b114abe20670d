"""Kubernetes alone: an Indexed Job for each task type, and a headless Service that gives pods their names."""

from collections import Counter

from spmd.cluster import RESTART_VARIABLE, RETRYABLE_EXIT_CODE
from spmd.errors import LaunchError
from spmd.launch.job import Job
from spmd.launch.manifests.pod import (
    Manifest,
    PodOptions,
    annotation,
    network_policy,
    pod_spec,
    resource,
    task_environment,
    to_yaml,
    token_secret,
)
from spmd.launch.tasks import check_workers_only
from spmd.launch.write_tf_config import cluster_of

_AGENT_SECONDS = 10
# SIGABRT, SIGKILL, SIGSEGV, SIGTERM: exit codes of 128 and the signal.
_KILLED = [134, 137, 139, 143]


def render_kubernetes(job: Job, options: PodOptions) -> str:
    """Writes the YAML of an Indexed Job for each task type, and of a headless Service.

    Kubernetes restarts only the pod that failed. In synchronous training the others notice that it is gone, and ask for
    a restart with their exit code, which does not count as a failure. With parameter servers they go on, and each pod
    has a number of restarts of its own.

    Raises:
        LaunchError: there is a queue, and tasks of several types.

    Source: https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication/
    """
    kinds = Counter(task.task_type for task in job.roles.all)
    if options.queue and len(kinds) > 1:
        raise LaunchError(
            f"Expected one Job for --queue, since Kueue admits each by itself, but there are {len(kinds)} that need each other "
            f"({', '.join(kinds)}). Write --render jobset, which it admits as one."
        )
    if job.roles.min_workers is not None:
        return _render_elastic(job, options)
    manifests = [*token_secret(job), *_network(job)]
    labels = labels_of(job)
    tasks = job.roles.cluster
    hosts = [f"{job.name}-{task.task_type}-{task.task_index}.{job.name}" for task in tasks]
    cluster = cluster_of(tasks, [f"{host}:{job.port}" for host in hosts])
    for kind, pods in kinds.items():
        alone = job.roles.ps > 0 and kind != "evaluator"
        environment = task_environment(cluster, kind) + (RESTARTS_ALONE if alone else [])
        pod = pod_spec(job, options, kind, kind, "Never", environment)
        pod["subdomain"] = job.name
        template = {"metadata": {"labels": labels}, "spec": pod}
        if alone:
            spec = job_of_pods_alone(job, kind, pods, template)
        else:  # one fault can end every pod, and each counts
            spec = indexed_job(job, pods, job.max_restarts * pods, "Ignore", template)
        metadata = {"name": f"{job.name}-{kind}", "labels": {**labels, **options.labels}}
        manifests.append(resource("batch/v1", "Job", metadata, {**options.suspended, **spec}))
    title = "An Indexed Job for each task type, and the Service that names their pods."
    return to_yaml(job, title, manifests)


def _network(job: Job) -> list[Manifest]:
    """Makes the Service that names the pods of a job, and the policy of their network."""
    selected = {"app.kubernetes.io/name": job.name}
    networking: Manifest = {
        "clusterIP": "None",
        "selector": selected,
        # Tasks connect to each other before they are ready.
        "publishNotReadyAddresses": True,
        "ports": [{"name": "training", "port": job.port}],
    }
    metadata = {"name": job.name, "labels": labels_of(job)}
    return [resource("v1", "Service", metadata, networking), network_policy(job, selected)]


def _render_elastic(job: Job, options: PodOptions) -> str:
    """Writes an Indexed Job of agents, and a headless Service by which they find the first, which leads."""
    spec = job_of_agents(job, options, f"{job.name}-worker-0.{job.name}:{job.port}")
    labels = labels_of(job)
    spec["template"]["metadata"] = {"labels": labels}
    spec["template"]["spec"]["subdomain"] = job.name
    metadata = {"name": f"{job.name}-worker", "labels": {**labels, **options.labels}}
    agents = resource("batch/v1", "Job", metadata, {**options.suspended, **spec})
    title = "An Indexed Job whose pods each run an agent, and the Service that names them."
    return to_yaml(job, title, [*token_secret(job), *_network(job), agents])


def job_of_agents(job: Job, options: PodOptions, endpoint: str) -> Manifest:
    """Makes the `JobSpec` of an Indexed Job each pod of which runs an agent of an elastic job, and starts again alone.

    Args:
        job: the job.
        options: settings of the pods.
        endpoint: `host:port` of the first pod, which leads.

    Raises:
        LaunchError: there are other tasks than workers.

    Source: https://kubernetes.io/docs/concepts/workloads/controllers/job/#success-policy
    """
    check_workers_only(job.roles, "--workers MIN:MAX")
    command = job.agent_command(endpoint)
    pod = pod_spec(job, options, "worker", "worker", "Never", command=command)
    # Agents give their workers the grace period; then they need a moment themselves.
    pod["terminationGracePeriodSeconds"] += _AGENT_SECONDS
    spec = indexed_job(job, job.roles.workers, job.max_restarts, "Ignore", {"spec": pod})
    spec["backoffLimitPerIndex"], spec["maxFailedIndexes"] = spec.pop("backoffLimit"), 0
    # When the job has failed, so have all agents. These codes say that something killed one: it starts again.
    failed = {"operator": "NotIn", "values": _KILLED}
    spec["podFailurePolicy"]["rules"].append({"action": "FailJob", "onExitCodes": failed})
    # The training may end without a pod that has not come back.
    spec["successPolicy"] = {"rules": [{"succeededIndexes": "0"}]}
    return spec


def labels_of(job: Job) -> dict[str, str]:
    """Makes the labels of a job's pods and resources."""
    return {"app.kubernetes.io/name": job.name, "app.kubernetes.io/managed-by": "jaxtribute"}


# How often a pod of `job_of_pods_alone` has started again.
RESTARTS_ALONE = [annotation(RESTART_VARIABLE, "batch.kubernetes.io/job-index-failure-count")]


def job_of_pods_alone(job: Job, kind: str, pods: int, template: Manifest) -> Manifest:
    """Makes the `JobSpec` of an Indexed Job each pod of which starts again alone, so often.

    It has failed if a chief or a parameter server has done so too often, or all workers.

    Source: https://kubernetes.io/docs/concepts/workloads/controllers/job/#backoff-limit-per-index
    """
    spec = indexed_job(job, pods, job.max_restarts, "Ignore", template)
    spec["backoffLimitPerIndex"] = spec.pop("backoffLimit")
    return spec if kind == "worker" else {**spec, "maxFailedIndexes": 0}


def indexed_job(
    job: Job, pods: int, backoff_limit: int, action: str, template: Manifest
) -> Manifest:
    """Makes the `JobSpec` of an Indexed Job.

    Args:
        job: the job, whose deadline bounds the restarts that do not count.
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
        "activeDeadlineSeconds": job.deadline_seconds,
        **({"podFailurePolicy": {"rules": rules}} if action else {}),
        "template": template,
    }
