"""A TFJob of Kubeflow."""

from spmd.launch import Job, PodOptions, Roles, render_tfjob
from tests.spmd.launch.schemas import read


def spec() -> dict:
    job = Job("train", ("train.py",), Roles(2, chief=True, evaluator=True), max_restarts=5)
    (manifest,) = read(render_tfjob(job, PodOptions("image")))
    return manifest["spec"]


def test_replicas_are_the_tasks() -> None:
    replicas = {name: each["replicas"] for name, each in spec()["tfReplicaSpecs"].items()}
    assert replicas == {"Chief": 1, "Worker": 2, "Evaluator": 1}


def test_the_exit_code_decides_about_a_restart() -> None:
    policies = {each["restartPolicy"] for each in spec()["tfReplicaSpecs"].values()}
    assert policies == {"ExitCode"}
    assert spec()["runPolicy"]["backoffLimit"] == 5


def test_with_parameter_servers_the_chief_decides_and_starts_again_after_any_error() -> None:
    roles = Roles(2, chief=True, ps=2)
    job = Job("train", ("train.py",), roles, max_restarts=5)
    (manifest,) = read(render_tfjob(job, PodOptions("image")))
    spec = manifest["spec"]
    replicas = spec["tfReplicaSpecs"]
    assert {name: each["replicas"] for name, each in replicas.items()} == {
        "Chief": 1,
        "Worker": 2,
        "PS": 2,
    }
    assert [each["restartPolicy"] for each in replicas.values()] == [
        "OnFailure",
        "ExitCode",
        "ExitCode",
    ]
    # The operator fails the job when as many restarts have happened.
    assert spec["runPolicy"]["backoffLimit"] == 6
    assert spec["runPolicy"]["cleanPodPolicy"] == "Running"
    assert "successPolicy" not in spec


def test_the_operator_finds_container_and_port_and_writes_tf_config_itself() -> None:
    for each in spec()["tfReplicaSpecs"].values():
        (container,) = each["template"]["spec"]["containers"]
        assert container["name"] == "tensorflow"
        assert container["ports"] == [{"name": "tfjob-port", "containerPort": 2222}]
        assert "TF_CONFIG" not in {variable["name"] for variable in container["env"]}
