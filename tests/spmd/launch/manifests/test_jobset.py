"""A JobSet, whose Jobs start again together."""

from spmd.cluster.exit_codes import RETRYABLE_EXIT_CODE
from spmd.launch import Job, PodOptions, Roles, render_jobset
from tests.spmd.launch.schemas import check_jobset, read

ROLES = Roles(2, chief=True, evaluator=True)


def spec(**options) -> dict:
    job = Job("train", ("train.py",), ROLES, **options)
    (manifest,) = read(render_jobset(job, PodOptions("image")))
    return manifest["spec"]


def test_all_start_again_when_one_fails() -> None:
    policy = spec(max_restarts=5)["failurePolicy"]
    assert policy["maxRestarts"] == 5
    rule, late = policy["rules"]
    assert (late["action"], late["onJobFailureReasons"]) == ("FailJobSet", ["DeadlineExceeded"])
    assert rule["action"] == "RestartJobSetAndIgnoreMaxRestarts"
    assert rule["onJobFailureReasons"] == ["PodFailurePolicy"]
    for job in spec()["replicatedJobs"][:2]:
        inner = job["template"]["spec"]
        assert inner["backoffLimit"] == 0
        first, _ = inner["podFailurePolicy"]["rules"]
        assert first["action"] == "FailJob"
        assert first["onExitCodes"]["values"] == [RETRYABLE_EXIT_CODE]


def test_an_evaluator_starts_again_alone_and_nobody_waits_for_it() -> None:
    evaluator = spec(max_restarts=5)["replicatedJobs"][2]["template"]["spec"]
    assert evaluator["backoffLimit"] == 5
    assert evaluator["template"]["spec"]["restartPolicy"] == "OnFailure"
    assert spec()["successPolicy"]["targetReplicatedJobs"] == ["chief", "worker"]


def test_with_parameter_servers_no_job_is_made_again_and_the_chief_decides() -> None:
    roles = Roles(2, chief=True, evaluator=True, ps=1)
    job = Job("train", ("train.py",), roles, max_restarts=5)
    (manifest,) = read(render_jobset(job, PodOptions("image")))
    assert manifest["spec"]["failurePolicy"] == {"maxRestarts": 0}
    assert manifest["spec"]["successPolicy"]["targetReplicatedJobs"] == ["chief"]
    *jobs, evaluator = manifest["spec"]["replicatedJobs"]
    assert [each["name"] for each in jobs] == ["chief", "worker", "ps"]
    for each in jobs:
        inner = each["template"]["spec"]
        assert inner["backoffLimitPerIndex"] == 5
        assert {rule["action"] for rule in inner["podFailurePolicy"]["rules"]} == {"Ignore"}
    assert evaluator["template"]["spec"]["backoffLimit"] == 5


def test_the_script_learns_which_attempt_it_is() -> None:
    (container,) = spec()["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"]
    variables = {each["name"]: each for each in container["env"]}
    variable = variables["JAXTRIBUTE_RESTART"]
    path = "metadata.annotations['jobset.sigs.k8s.io/restart-attempt']"
    assert variable["valueFrom"]["fieldRef"]["fieldPath"] == path
    assert variables["JAXTRIBUTE_RESTART_LIMIT"]["value"] == "103"  # of which 3 count


def test_kueue_admits_it_as_one() -> None:
    (manifest,) = read(
        render_jobset(Job("train", ("train.py",), ROLES), PodOptions("image", queue="a"))
    )
    assert manifest["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "a"}
    assert manifest["spec"]["suspend"] is True
    assert "suspend" not in spec()


def test_an_elastic_job_is_one_job_of_agents_that_start_again_alone() -> None:
    job = Job("train", ("train.py",), Roles(4, min_workers=2), token="0123", port=2300)
    secret, jobset = read(render_jobset(job, PodOptions("image", queue="gpus")))
    check_jobset(jobset)
    assert secret["stringData"] == {"auth_token": "0123"}
    assert jobset["spec"]["failurePolicy"] == {"maxRestarts": 0}
    (worker,) = jobset["spec"]["replicatedJobs"]
    spec = worker["template"]["spec"]
    assert (spec["completions"], spec["backoffLimitPerIndex"]) == (4, 3)
    (container,) = spec["template"]["spec"]["containers"]
    # Set, Job, its index, the pod's index; the set's Service has its name.
    assert container["command"][:4] == [
        *("jaxtribute", "launch", "--rendezvous", "train-worker-0-0.train:2300"),
    ]
    assert worker["name"] == "worker"
