"""The environment of a worker."""

import json
import os
import re

import pytest

from spmd.errors import PlanError
from spmd.plan import environment, parse_topology
from spmd.plan.environment import check_compiler, worker_environment
from spmd.topology import parse_simulated


def test_a_worker_sees_as_many_simulated_devices_as_the_topology_has() -> None:
    found = worker_environment(parse_topology("2xv5e:4x4"), {"XLA_FLAGS": "--a=b", "HOME": "/me"})
    assert found["XLA_FLAGS"] == "--a=b --xla_force_host_platform_device_count=32"
    assert found["JAXTRIBUTE_SIMULATE"] == "tpu:v5e-32"
    assert found["JAX_PLATFORMS"] == "cpu"
    assert found["HOME"] == "/me"


@pytest.mark.parametrize(
    ("topology", "text"),
    [
        ("v4:2x2x2", "tpu:v4-16"),
        ("v5p:2x2x1", "tpu:v5p-8"),
        ("v6e:8x8", "tpu:v6e-64"),
        ("h100:8", "gpu:8"),
    ],
)
def test_simulated_devices_have_the_number_of_the_topology(topology, text) -> None:
    topology = parse_topology(topology)
    assert worker_environment(topology, {})["JAXTRIBUTE_SIMULATE"] == text
    assert parse_simulated(text).count == topology.devices


def test_a_processor_is_not_simulated_as_something_else() -> None:
    assert "JAXTRIBUTE_SIMULATE" not in worker_environment(
        parse_topology("cpu:2"), {"JAXTRIBUTE_SIMULATE": "tpu:8"}
    )


def test_a_planned_script_joins_no_cluster() -> None:
    cluster = {"worker": ["a:1", "b:1"]}
    task = {"type": "worker", "index": 1}
    given = {"TF_CONFIG": json.dumps({"cluster": cluster, "task": task})}
    found = json.loads(worker_environment(parse_topology("h100:8"), given)["TF_CONFIG"])
    assert found["cluster"] == {"worker": ["localhost:2222"]}
    assert found["task"]["index"] == 0
    assert "TF_CONFIG" not in worker_environment(parse_topology("h100:8"), {})


def test_paths_of_the_person_stay() -> None:
    found = worker_environment(parse_topology("cpu:1"), {"PYTHONPATH": "/mine"})
    assert found["PYTHONPATH"].split(os.pathsep)[-1] == "/mine"


@pytest.mark.parametrize(("topology", "extra"), [("v5e:2x2", "tpu-plan"), ("h100:8", "gpu-plan")])
def test_without_a_compiler_an_error_says_what_to_install(monkeypatch, topology, extra) -> None:
    monkeypatch.setattr(environment, "_is_installed", lambda module: False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(PlanError, match=re.escape(f"pip install 'jaxtribute[{extra}]'")):
        check_compiler(parse_topology(topology))


def test_a_processor_needs_no_compiler(monkeypatch) -> None:
    monkeypatch.setattr(environment, "_is_installed", lambda module: False)
    check_compiler(parse_topology("cpu:2"))
