"""Indexed Jobs and their headless Service."""

from spmd.cluster.exit_codes import RETRYABLE_EXIT_CODE
from spmd.launch import Job, PodOptions, Roles, render_kubernetes
from tests.spmd.launch.schemas import read


def manifests(**options) -> list[dict]:
    job = Job("train", ("train.py",), Roles(2, chief=True), **options)
    return read(render_kubernetes(job, PodOptions("image")))


def test_the_service_gives_every_pod_a_name_before_it_is_ready() -> None:
    service, *jobs = manifests(port=2300)
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"]
    assert service["spec"]["ports"] == [{"name": "training", "port": 2300}]
    for job in jobs:
        template = job["spec"]["template"]
        assert template["spec"]["subdomain"] == service["metadata"]["name"]
        assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()


def test_each_type_is_a_job_with_a_pod_for_each_task() -> None:
    _, chief, worker = manifests(max_restarts=3)
    for job, name, pods in ((chief, "train-chief", 1), (worker, "train-worker", 2)):
        assert job["metadata"]["name"] == name
        assert job["spec"]["completionMode"] == "Indexed"
        assert job["spec"]["completions"] == job["spec"]["parallelism"] == pods
        assert job["spec"]["backoffLimit"] == 3 * pods


def test_each_pod_starts_again_alone_where_there_are_parameter_servers() -> None:
    roles = Roles(2, chief=True, evaluator=True, ps=2)
    job = Job("train", ("train.py",), roles, max_restarts=5)
    service, *jobs = read(render_kubernetes(job, PodOptions("image")))
    assert service["kind"] == "Service"
    specs = {each["metadata"]["name"]: each["spec"] for each in jobs}
    for name in ("train-chief", "train-worker", "train-ps"):
        assert specs[name]["backoffLimitPerIndex"] == 5
        assert "backoffLimit" not in specs[name]
        assert specs[name]["template"]["spec"]["restartPolicy"] == "Never"
        (container,) = specs[name]["template"]["spec"]["containers"]
        (restarts,) = (each for each in container["env"] if each["name"] == "JAXTRIBUTE_RESTART")
        path = "metadata.annotations['batch.kubernetes.io/job-index-failure-count']"
        assert restarts["valueFrom"]["fieldRef"]["fieldPath"] == path
    # The training goes on without a worker, but not without a parameter server.
    assert [each.get("maxFailedIndexes") for each in specs.values()] == [0, None, 0, None]
    assert specs["train-evaluator"]["backoffLimit"] == 5


def test_a_pod_that_asks_for_a_restart_or_is_taken_away_does_not_count() -> None:
    for job in manifests()[1:]:
        exit_code, taken_away = job["spec"]["podFailurePolicy"]["rules"]
        assert exit_code["action"] == taken_away["action"] == "Ignore"
        assert exit_code["onExitCodes"]["values"] == [RETRYABLE_EXIT_CODE]
        assert taken_away["onPodConditions"][0]["type"] == "DisruptionTarget"
        assert job["spec"]["template"]["spec"]["restartPolicy"] == "Never"
