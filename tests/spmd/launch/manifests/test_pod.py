"""What all manifests share, and the schemas that they are held to."""

import dataclasses
import json
from collections.abc import Callable, Iterator

import pytest

from spmd.cluster import from_tf_config
from spmd.errors import LaunchError
from spmd.launch import (
    Job,
    PodOptions,
    Roles,
    render_jobset,
    render_kubernetes,
    render_raycluster,
    render_tfjob,
)
from tests.spmd.launch import schemas

OPTIONS = PodOptions("registry/train:1", volumes={"data": "/data"}, node_selector={"kind": "gpu"})
ALL_ROLES = (
    Roles(1),
    Roles(3),
    Roles(0, chief=True),
    Roles(2, chief=True, evaluator=True),
    Roles(1, evaluator=True),
    Roles(2, chief=True, evaluator=True, ps=2),
)
TOKEN = "0123456789abcdef" * 4
RENDERERS = {
    render_kubernetes: schemas.check_kubernetes,
    render_jobset: schemas.check_jobset,
    render_tfjob: schemas.check_tfjob,
}
# Those that know parameter servers.
SERVED = [*RENDERERS, render_raycluster]


def job_of(roles: Roles, **options) -> Job:
    token = TOKEN if roles.ps else ""
    return Job("train", ("train.py", "--lr", "1"), roles, {"A": "b c"}, token=token, **options)


def workloads_of(text: str) -> list[dict]:
    """The manifests without the Secret, which comes first if there is one."""
    manifests = schemas.read(text)
    if manifests[0]["kind"] == "Secret":
        schemas.check_kubernetes(manifests.pop(0))
    return manifests


@pytest.mark.parametrize("roles", ALL_ROLES, ids=lambda roles: " ".join(map(str, roles.all)))
@pytest.mark.parametrize("render", RENDERERS)
def test_manifests_are_what_the_schemas_say(render: Callable, roles: Roles) -> None:
    text = render(job_of(roles, devices_per_worker=8 if roles.chief else None), OPTIONS)
    for manifest in workloads_of(text):
        RENDERERS[render](manifest)
    assert "&id" not in text  # nothing that refers to another place


@pytest.mark.parametrize("render", SERVED)
def test_only_pods_of_the_job_connect_to_its_pods(render: Callable) -> None:
    text = render(job_of(ALL_ROLES[-1]), OPTIONS)
    policy = schemas.read_policy(text)
    schemas.check_kubernetes(policy)
    selector = policy["spec"]["podSelector"]
    assert policy["spec"]["ingress"] == [{"from": [{"podSelector": selector}]}]
    # The controllers of JobSets and TFJobs put these on their pods.
    given = {"jobset.sigs.k8s.io/jobset-name": "train", "training.kubeflow.org/job-name": "train"}
    for template in templates_in(schemas.read(text)):
        labels = {**given, **template.get("metadata", {}).get("labels", {})}
        assert selector["matchLabels"].items() <= labels.items()


@pytest.mark.parametrize("render", SERVED)
def test_probes_ask_tasks_for_their_health(render: Callable) -> None:
    text = render(job_of(ALL_ROLES[-1], health_port=8080), OPTIONS)
    assert schemas.read_policy(text)["spec"]["ingress"][1] == {"ports": [{"port": 8080}]}
    for template in templates_in(schemas.read(text)):
        schemas.check_pod_template(template)
        (container,) = template["spec"]["containers"]
        if "command" not in container:  # Ray, which KubeRay looks after
            assert "livenessProbe" not in container
            continue
        assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "health"}
        assert {"name": "health", "containerPort": 8080} in container["ports"]
        assert {"name": "JAXTRIBUTE_HEALTH_ADDRESS", "value": "0.0.0.0:8080"} in container["env"]


def test_health_has_a_port_of_its_own() -> None:
    with pytest.raises(LaunchError, match="--health-port 8080"):
        job_of(Roles(1), health_port=2222)


@pytest.mark.parametrize("render", SERVED)
def test_every_job_ends(render: Callable) -> None:
    text = render(job_of(ALL_ROLES[-1], deadline_seconds=3600), OPTIONS)
    deadlines = text.count("activeDeadlineSeconds: 3600\n")
    assert deadlines == (1 if render is render_tfjob else text.count("completionMode: Indexed\n"))


@pytest.mark.parametrize("render", SERVED)
def test_pods_have_no_more_rights_than_they_need(render: Callable) -> None:
    job = job_of(ALL_ROLES[-1])
    for options in (OPTIONS, dataclasses.replace(OPTIONS, user=1000)):
        for template in templates_in(schemas.read(render(job, options))):
            pod, (container,) = template["spec"], template["spec"]["containers"]
            schemas.check_pod_template(template)
            assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert pod["securityContext"].get("runAsUser") == options.user
            dropped = container["securityContext"].get("capabilities")
            assert dropped == (None if options.user is None else {"drop": ["ALL"]})


@pytest.mark.parametrize(
    ("options", "words"),
    [({"user": 0}, "--user to be from 1"), ({"queue": "A b"}, "--queue is 'A b'")],
)
def test_names_and_numbers_of_options_are_checked(options: dict, words: str) -> None:
    with pytest.raises(LaunchError, match=words):
        PodOptions("image", **options)


@pytest.mark.parametrize(
    "change", [{"unknown": 1}, {"tfReplicaSpecs": 1, "replicatedJobs": 1, "template": 1}]
)
@pytest.mark.parametrize("render", RENDERERS)
def test_the_schemas_find_what_is_wrong(render: Callable, change: dict) -> None:
    manifest = schemas.read(render(job_of(Roles(2)), OPTIONS))[-1]
    spec = manifest["spec"]
    spec.update({key: value for key, value in change.items() if key in spec or key == "unknown"})
    with pytest.raises(schemas.INVALID):
        RENDERERS[render](manifest)


def filled_in(environment: list[dict], index: int) -> dict[str, str]:
    """Fills in variables as Kubernetes does: `$(NAME)` by those that come before."""
    values: dict[str, str] = {}
    for variable in environment:
        if "valueFrom" in variable:
            path = variable["valueFrom"]["fieldRef"]["fieldPath"]
            values[variable["name"]] = str(index) if "completion-index" in path else "0"
            continue
        value = variable["value"]
        for name, known in values.items():
            value = value.replace(f"$({name})", known)
        values[variable["name"]] = value
    return values


@pytest.mark.parametrize("roles", ALL_ROLES, ids=lambda roles: " ".join(map(str, roles.all)))
@pytest.mark.parametrize("render", [render_kubernetes, render_jobset])
def test_every_pod_finds_its_task_and_the_names_of_the_others(
    render: Callable, roles: Roles, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostnames, tasks, processes = [], [], set()
    manifests = workloads_of(render(job_of(roles), OPTIONS))
    if render is render_jobset:
        jobs = [
            (f"train-{job['name']}-0", "train", job["template"])
            for job in manifests[0]["spec"]["replicatedJobs"]
        ]
    else:
        jobs = [
            (job["metadata"]["name"], job["spec"]["template"]["spec"]["subdomain"], job)
            for job in manifests[1:]
        ]
    for prefix, subdomain, job in jobs:
        for index in range(job["spec"]["completions"]):
            (container,) = job["spec"]["template"]["spec"]["containers"]
            variables = filled_in(container["env"], index)
            assert variables["A"] == "b c"
            monkeypatch.setenv("TF_CONFIG", variables["TF_CONFIG"])
            cluster = from_tf_config()
            tasks.append(str(cluster.task))
            processes.add(tuple(address for job in cluster.jobs.values() for address in job))
            if not cluster.is_evaluator:
                hostnames.append(f"{prefix}-{index}.{subdomain}:2222")
    assert tasks == [str(task) for task in roles.all]
    assert processes == {tuple(hostnames)}


@pytest.mark.parametrize("render", SERVED)
def test_a_token_is_in_a_secret_that_pods_mount_and_nowhere_else(render: Callable) -> None:
    text = render(job_of(Roles(2, chief=True, evaluator=True, ps=1)), OPTIONS)
    assert text.count(TOKEN) == 1
    secret = schemas.read(text)[0]
    assert secret["stringData"] == {"auth_token": TOKEN}
    # KubeRay gives its own pods the token of the Secret with the cluster's name.
    pods = [pod for pod in pods_in(schemas.read(text)[1:]) if "ray-" not in str(pod)]
    assert len(pods) == (2 if render is render_raycluster else 4)
    for pod in pods:
        (container,) = pod["containers"]
        variables = {each["name"]: each.get("value") for each in container["env"]}
        folder, _, key = variables["RAY_AUTH_TOKEN_PATH"].rpartition("/")
        (mount,) = (each for each in container["volumeMounts"] if each["mountPath"] == folder)
        (volume,) = (each for each in pod["volumes"] if each["name"] == mount["name"])
        assert volume["secret"]["secretName"] == secret["metadata"]["name"]
        assert key in secret["stringData"]


def templates_in(value: object) -> Iterator[dict]:
    """Finds the templates of pods, wherever they are in a manifest."""
    if isinstance(value, dict) and "containers" in value.get("spec", ()):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from templates_in(each)


def pods_in(value: object) -> list[dict]:
    return [template["spec"] for template in templates_in(value)]


@pytest.mark.parametrize("render", RENDERERS)
def test_parameter_servers_and_their_chief_get_no_devices(render: Callable) -> None:
    roles = Roles(2, chief=True, ps=1)
    text = render(job_of(roles, devices_per_worker=8), OPTIONS)
    assert text.count("nvidia.com/gpu: 8") == 1
    platforms = [
        {each["name"]: each.get("value") for each in pod["containers"][0]["env"]}.get(
            "JAX_PLATFORMS"
        )
        for pod in pods_in(schemas.read(text)[1:])
    ]
    assert platforms == ["cpu", None, "cpu"]


@pytest.mark.parametrize("render", [render_kubernetes, render_jobset, render_tfjob])
def test_only_tasks_that_train_get_devices(render: Callable) -> None:
    text = render(job_of(Roles(1, evaluator=True), devices_per_worker=8), OPTIONS)
    assert text.count("nvidia.com/gpu: 8") == 1
    on_processor = Job("train", ("t.py",), Roles(1), {"JAX_PLATFORMS": "cpu"}, 8)
    text = render(on_processor, OPTIONS)
    assert "nvidia" not in text
    assert "--xla_force_host_platform_device_count=8" in text


def test_pods_have_an_image() -> None:
    with pytest.raises(LaunchError, match="--image"):
        PodOptions("")


def test_the_longest_name_leaves_room_for_the_names_of_pods() -> None:
    job = Job("a" * 40, ("train.py",), Roles(1000))
    (manifest,) = schemas.read(render_jobset(job, OPTIONS))
    container = manifest["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    variables = {each["name"]: each for each in container["containers"][0]["env"]}
    config = variables["TF_CONFIG"]["value"].replace("$(JOB_COMPLETION_INDEX)", "0")
    addresses = json.loads(config)["cluster"]["worker"]
    assert max(len(address.split(".")[0]) for address in addresses) <= 63 - len("-abcde")
