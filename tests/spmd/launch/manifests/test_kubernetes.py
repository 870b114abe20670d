"""Indexed Jobs and their headless Service."""

import pytest

from spmd.cluster.exit_codes import RETRYABLE_EXIT_CODE
from spmd.errors import LaunchError
from spmd.launch import Job, PodOptions, Roles, render_kubernetes
from tests.spmd.launch.schemas import check_kubernetes, read


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


def elastic(**options) -> tuple[dict, dict, dict]:
    roles = Roles(4, min_workers=2)
    job = Job("train", ("train.py", "$(HOME)"), roles, token="0123", **options)
    return tuple(read(render_kubernetes(job, PodOptions("image"))))


def test_each_pod_of_an_elastic_job_runs_an_agent_that_finds_the_first_by_its_name() -> None:
    _, service, job = elastic(port=2300, devices_per_worker=8, max_restarts=5)
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    *launch, script, argument = container["command"]
    assert launch == [
        *("jaxtribute", "launch", "--rendezvous", "train-worker-0.train:2300"),
        *("--workers", "2:4", "--devices-per-worker", "8", "--max-restarts", "5"),
    ]
    assert (script, argument) == ("train.py", "$$(HOME)")
    # The name that the endpoint has: of the Job, its first index, and the Service.
    assert job["metadata"]["name"] == "train-worker"
    assert pod["subdomain"] == service["metadata"]["name"] == "train"
    assert service["spec"]["ports"][0]["port"] == 2300
    assert not {"TF_CONFIG", "JAXTRIBUTE_RESTART"} & {each["name"] for each in container["env"]}
    assert container["resources"] == {"limits": {"nvidia.com/gpu": 8}}


def test_the_agents_of_an_elastic_job_share_a_secret() -> None:
    secret, _, job = elastic()
    assert secret["stringData"] == {"auth_token": "0123"}
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert "0123" not in str(container)
    assert "RAY_AUTH_TOKEN_PATH" in {each["name"] for each in container["env"]}


def test_pods_of_an_elastic_job_start_again_alone_unless_the_job_has_failed() -> None:
    _, _, job = elastic(max_restarts=5, grace_seconds=60)
    spec = job["spec"]
    assert spec["completions"] == spec["parallelism"] == 4
    assert (spec["backoffLimitPerIndex"], spec["maxFailedIndexes"]) == (5, 0)
    assert spec["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}
    asked, taken, failed = spec["podFailurePolicy"]["rules"]
    assert (asked["action"], asked["onExitCodes"]["values"]) == ("Ignore", [143])
    assert (taken["action"], taken["onPodConditions"][0]["type"]) == ("Ignore", "DisruptionTarget")
    assert (failed["action"], failed["onExitCodes"]["operator"]) == ("FailJob", "NotIn")
    assert {137, 143} <= {*failed["onExitCodes"]["values"]}
    # An agent gives its worker the grace period, and tells the leader.
    assert spec["template"]["spec"]["terminationGracePeriodSeconds"] > 60


def test_an_elastic_job_fits_the_schema() -> None:
    for manifest in elastic(health_port=8080, references=["WANDB_API_KEY"]):
        check_kubernetes(manifest)


def test_agents_run_workers_only() -> None:
    job = Job("train", ("train.py",), Roles(2, chief=True, min_workers=1))
    with pytest.raises(LaunchError, match="Expected workers only"):
        render_kubernetes(job, PodOptions("image"))
