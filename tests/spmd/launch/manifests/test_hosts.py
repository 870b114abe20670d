"""The command of each host."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from spmd.errors import LaunchError
from spmd.launch.job import Job
from spmd.launch.manifests.hosts import read_hosts, render_hosts, roles_on
from spmd.launch.tasks import Roles

PRINT = "import os, sys; print(os.environ['TF_CONFIG'], os.environ['A'], sys.argv[1:])"


def commands(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_each_host_gets_its_own_task(tmp_path: Path) -> None:
    hosts = ["a", "b:2300", "c"]
    roles = roles_on(hosts, None, chief=True, evaluator=True)
    job = Job("train", ("-c", PRINT, "it's"), roles, {"A": "x y"})
    (tmp_path / "python").symlink_to(sys.executable)
    path = f"{tmp_path}:{os.environ['PATH']}"
    tasks = []
    for command in commands(render_hosts(job, hosts)):
        output = subprocess.run(
            ["sh", "-c", command],
            env={"PATH": path},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        config, end = json.JSONDecoder().raw_decode(output)
        assert output[end:] == ' x y ["it\'s"]\n'
        assert config["cluster"] == {"chief": ["a:2222"], "worker": ["b:2300"]}
        tasks.append(config["task"])
    assert tasks == [
        {"type": "chief", "index": 0},
        {"type": "worker", "index": 0},
        {"type": "evaluator", "index": 0},
    ]


def test_devices_are_simulated_or_chosen() -> None:
    on_processor = Job("train", ("t.py",), Roles(1), {"JAX_PLATFORMS": "cpu"}, 4)
    assert "device_count=4" in render_hosts(on_processor, ["a"])
    assert "CUDA_VISIBLE_DEVICES=0,1 " in render_hosts(Job("t", ("t.py",), Roles(1), {}, 2), ["a"])


def test_parameter_servers_have_hosts_and_a_secret_that_is_not_shown() -> None:
    hosts = ["a", "b", "c", "d"]
    roles = roles_on(hosts, None, chief=True, evaluator=False, ps=1)
    assert roles.workers == 2
    job = Job("train", ("t.py",), roles, {"A": "b"}, 2, token="0123456789")
    text = render_hosts(job, hosts)
    assert "0123456789" not in text
    chief, *workers, server = commands(text)
    for command in (chief, *workers, server):
        assert " RAY_AUTH_TOKEN_PATH=~/.jaxtribute/train.token " in command
        assert '"ps": ["d:2222"]' in command
    assert "(umask 077; openssl rand -hex 32 > ~/.jaxtribute/train.token)" in text
    assert "CUDA_VISIBLE_DEVICES=0,1" in workers[0]
    assert " JAX_PLATFORMS=cpu " in server
    assert "CUDA" not in server


def test_hosts_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("a  # the first\n\n# none\nb:2300\n")
    assert read_hosts(str(tmp_path / "hosts")) == ["a", "b:2300"]


@pytest.mark.parametrize(
    ("text", "message"), [(" , ", "names none"), ("a,b,a", "a more than once")]
)
def test_hosts_are_there_each_one_once(text: str, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        read_hosts(text)


def test_there_are_as_many_hosts_as_tasks() -> None:
    with pytest.raises(LaunchError, match=r"each of 3 tasks .* there are 2: a, b"):
        roles_on(["a", "b"], 3, chief=False, evaluator=False)


def test_the_command_of_an_elastic_job_is_the_same_on_every_host(tmp_path: Path) -> None:
    (tmp_path / "jaxtribute").write_text('#!/bin/sh\necho "$A" "$RAY_AUTH_TOKEN_PATH" "$@"\n')
    (tmp_path / "jaxtribute").chmod(0o755)
    roles = Roles(3, min_workers=2)
    job = Job("train", ("t.py", "it's"), roles, {"A": "x y"}, token="0123", grace_seconds=60)
    text = render_hosts(job, ["a:2300", "b", "c"])
    assert "a:2300, b, c" in text
    assert "0123" not in text
    (command,) = commands(text)
    output = subprocess.run(
        ["sh", "-c", command],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": "/home/me"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    assert output == (
        "x y /home/me/.jaxtribute/train.token launch --rendezvous a:2300 --workers 2:3 --grace-seconds 60 t.py it's\n"
    )


def test_agents_run_workers_only() -> None:
    job = Job("train", ("t.py",), Roles(1, evaluator=True, min_workers=1))
    with pytest.raises(LaunchError, match="there is --evaluator"):
        render_hosts(job, ["a", "b"])
