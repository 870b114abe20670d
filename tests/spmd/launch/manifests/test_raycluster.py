"""A RayCluster of KubeRay, and the Job that uses it."""

import contextlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spmd.errors import LaunchError
from spmd.launch import Job, PodOptions, Roles, render_raycluster
from spmd.servers import remote
from tests.spmd.launch.schemas import INVALID, check_raycluster, read

ROOT = Path(__file__).resolve().parents[4]
NODE = ROOT / "spmd" / "servers" / "remote" / "_node_main.py"
RAY = ROOT / "spmd" / "servers" / "remote" / "_ray.py"
OPTIONS = PodOptions("registry/train:1", volumes={"data": "/data"}, node_selector={"kind": "gpu"})
ROLES = Roles(2, chief=True, evaluator=True, ps=1)
TOKEN = "0123456789abcdef" * 4


def manifests(**options) -> list[dict]:
    job = Job("train", ("train.py",), ROLES, {"A": "b"}, token=TOKEN, **options)
    return read(render_raycluster(job, OPTIONS))


def test_manifests_are_what_the_schemas_say() -> None:
    kinds = []
    for manifest in manifests(devices_per_worker=2):
        check_raycluster(manifest)
        kinds.append((manifest["kind"], manifest["metadata"]["name"]))
    jobs = [("Job", "train-chief"), ("Job", "train-evaluator")]
    # KubeRay takes the Secret of its cluster's name for the token.
    assert kinds == [("Secret", "train"), ("RayCluster", "train"), *jobs]


@pytest.mark.parametrize("where", ["spec", "headGroupSpec", "template"])
def test_the_schemas_find_what_is_wrong(where: str) -> None:
    cluster = manifests()[1]
    group = cluster["spec"]["headGroupSpec"]
    {"spec": cluster["spec"], "headGroupSpec": group, "template": group["template"]}[where]["x"] = 1
    with pytest.raises(INVALID):
        check_raycluster(cluster)


def test_each_pod_is_one_task_of_its_kind() -> None:
    spec = manifests(devices_per_worker=2)[1]["spec"]
    assert spec["authOptions"] == {"mode": "token"}
    groups = spec["workerGroupSpecs"]
    assert [(each["groupName"], each["replicas"]) for each in groups] == [("worker", 2), ("ps", 1)]
    for group in groups:
        assert group["minReplicas"] == group["maxReplicas"] == group["replicas"]
        (word,) = shlex.split(group["rayStartParams"]["resources"])  # in a shell command
        assert json.loads(word) == {group["groupName"]: 1}
    head, worker, server = (
        group["template"]["spec"]["containers"][0] for group in (spec["headGroupSpec"], *groups)
    )
    assert worker["resources"] == {"limits": {"nvidia.com/gpu": 2}}
    for container in (head, server):
        assert "resources" not in container
        assert {"name": "JAX_PLATFORMS", "value": "cpu"} in container["env"]
    for container in (head, worker, server):
        assert "command" not in container
        assert {"name": "A", "value": "b"} in container["env"]


def test_rays_processes_have_the_settings_that_tasks_give_them() -> None:
    for group in manifests()[1]["spec"]["workerGroupSpecs"]:
        (container,) = group["template"]["spec"]["containers"]
        given = {each["name"]: each["value"] for each in container["env"]}
        known = {name: value for name, value in remote.SETTINGS.items() if name in given}
        assert known.keys() >= {"RAY_AUTH_MODE", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"}
        assert given.items() >= known.items()


def test_the_chief_starts_again_alone_and_knows_where_ray_is() -> None:
    _, _, chief, evaluator = manifests(max_restarts=5)
    assert chief["spec"]["backoffLimitPerIndex"] == 5
    (container,) = chief["spec"]["template"]["spec"]["containers"]
    variables = {each["name"]: each.get("value") for each in container["env"]}
    assert variables["JAXTRIBUTE_RAY_ADDRESS"] == "train-head-svc:6379"
    config = json.loads(variables["TF_CONFIG"].replace("$(JOB_COMPLETION_INDEX)", "0"))
    assert {job: len(tasks) for job, tasks in config["cluster"].items()} == {
        "chief": 1,
        "worker": 2,
        "ps": 1,
    }
    assert evaluator["spec"]["backoffLimit"] == 5


def test_a_cluster_without_parameter_servers_is_refused() -> None:
    with pytest.raises(LaunchError, match="--render jobset"):
        render_raycluster(Job("train", ("train.py",), Roles(2)), OPTIONS)


@contextlib.contextmanager
def started(command: str, environment: dict[str, str]) -> Iterator[None]:
    """Runs what KubeRay runs in a pod, and ends it with all that it has started."""
    words = [sys.executable, "-I", "-S", str(NODE), "bash", "-c", command]
    with subprocess.Popen(
        words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            lines: list[str] = []
            while not lines or "Ray runtime started" not in lines[-1]:
                lines.append(process.stdout.readline())
                assert lines[-1], lines
            yield
        finally:
            process.stdin.close()


def command_of(group: dict, words: list[str]) -> str:
    """Writes the command of a group's pods as KubeRay does: values go into a shell command as they are."""
    parameters = [f"--{name}={value}" for name, value in group["rayStartParams"].items()]
    own = ["--node-ip-address=127.0.0.1", "--object-store-memory=200000000", "--block"]
    start = [shlex.quote(sys.executable), "-P", shlex.quote(str(RAY)), "start"]
    return " ".join([*start, *words, *own, *parameters])


@pytest.mark.multiprocess
@pytest.mark.slow
@pytest.mark.xdist_group("ray")
@pytest.mark.skipif(sys.platform != "linux", reason="Ray's nodes are ended by way of /proc")
def test_a_program_runs_on_nodes_that_kuberay_would_start(tmp_path: Path) -> None:
    script = """
import os
from frontends import tf
strategy = tf.distribute.ParameterServerStrategy()
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    count = tf.Variable(0)
def add():
    count.assign_add(1)
    return os.getppid(), os.environ["NODE"]
results = [coordinator.schedule(add) for _ in range(100)]
coordinator.join()
print(int(count.numpy()), sorted({result.fetch()[1] for result in results}))
"""
    _, cluster, chief, _ = manifests()
    spec = cluster["spec"]
    (tmp_path / "token").touch(0o600)
    (tmp_path / "token").write_text(TOKEN)
    port = 20_000 + os.getpid() % 10_000
    base = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}

    def environment(group: dict, name: str) -> dict[str, str]:
        (container,) = group["template"]["spec"]["containers"]
        own = {each["name"]: each["value"] for each in container["env"]}
        return {**base, **own, "RAY_AUTH_TOKEN": TOKEN, "NODE": name}

    with contextlib.ExitStack() as stack:
        head = command_of(
            spec["headGroupSpec"], ["--head", f"--port={port}", "--include-dashboard=false"]
        )
        stack.enter_context(started(head, environment(spec["headGroupSpec"], "head")))
        for group in spec["workerGroupSpecs"]:
            for number in range(group["replicas"]):
                command = command_of(group, [f"--address=127.0.0.1:{port}"])
                name = f"{group['groupName']} {number}"
                stack.enter_context(started(command, environment(group, name)))
        (container,) = chief["spec"]["template"]["spec"]["containers"]
        own = {each["name"]: each["value"] for each in container["env"] if "value" in each}
        own["TF_CONFIG"] = own["TF_CONFIG"].replace("$(JOB_COMPLETION_INDEX)", "0")
        own["RAY_AUTH_TOKEN_PATH"] = str(tmp_path / "token")
        own["JAXTRIBUTE_RAY_ADDRESS"] = f"127.0.0.1:{port}"
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={**base, **own},
            stdout=subprocess.PIPE,
            text=True,
            timeout=300,
            check=True,
        )
    assert done.stdout.splitlines()[-1] == "100 ['worker 0', 'worker 1']"
