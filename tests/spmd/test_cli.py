"""The `jaxtribute` command, in this process and as a process of its own."""

import os
import socket
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
import pytest

from spmd import cli
from spmd.errors import ClusterConfigError
from spmd.servers.remote import nodes

ROOT = Path(cli.__file__).parents[1]


def run_command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "spmd.cli", *arguments],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_info_as_a_process_shows_versions_devices_and_cluster() -> None:
    result = run_command(
        "info",
        JAX_PLATFORMS="cpu",
        TF_CONFIG='{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}',
    )
    assert result.returncode == 0, result.stderr
    rows = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert rows["jax"].strip() == jax.__version__
    assert rows["TF_CONFIG"].strip() == "worker 1 in a cluster of 2 x worker"
    assert rows["cpu"].startswith("devices")


def test_info_without_devices_says_why_and_fails() -> None:
    result = run_command("info", JAX_PLATFORMS="no_such_platform")
    assert result.returncode == 1
    assert "no_such_platform" in result.stdout
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_version_as_a_process() -> None:
    result = run_command("--version")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("jaxtribute ")


@pytest.mark.skipif(
    cli.package_version("jaxtribute") is None, reason="the distribution is not installed"
)
def test_console_script_points_here() -> None:
    (script,) = metadata.entry_points(group="console_scripts", name="jaxtribute")
    assert script.load() is cli.main


def test_info_in_process(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert cli.main(["info"]) == 0
    output = capsys.readouterr().out
    assert "not set (one process)" in output
    assert f"cpu devices       {jax.local_device_count('cpu')}" in output


def test_every_device_is_counted_once() -> None:
    everything = {*jax.local_devices(), *jax.local_devices(backend="cpu")}
    assert sum(cli.device_counts().values()) == len(everything)


def test_no_command_prints_help_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    assert "info" in capsys.readouterr().err


def test_unknown_command_fails(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main(["no-such-command"])
    assert exit_.value.code == 2
    assert "no-such-command" in capsys.readouterr().err


@pytest.mark.parametrize("command", cli.COMMANDS, ids=lambda command: command.__name__)
def test_every_command_explains_itself(command, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main([command.__name__.replace("_", "-"), "--help"])
    assert exit_.value.code == 0
    assert command.__doc__.partition("\n")[0] in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "not set (one process)"),
        ("", "not set (one process)"),
        ("{", "not valid JSON"),
        ("[]", "must be a JSON object"),
        ("{}", "names no cluster (one process)"),
        ('{"cluster": {"worker": ["a:1"]}}', 'wrong: "task.type" is not in'),
        (
            '{"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"]}, "task": {"type": "chief", "index": 0}}',
            "chief 0 in a cluster of 1 x chief, 2 x worker",
        ),
    ],
)
def test_tf_config_in_a_line(text: str | None, expected: str) -> None:
    assert expected in cli.describe_tf_config(text)


_WORKERS = '{"worker": ["a:1", "b:1"]}'


def _served(*arguments: Any) -> tuple[Any, str, int, str]:
    found = cli.served_task(*arguments)
    return found.jobs, found.task_type, found.task_index, found.source


def test_the_task_to_serve_as() -> None:
    jobs = {"worker": ("a:1", "b:1")}
    assert _served(_WORKERS, None, 1, {}) == (jobs, "worker", 1, "--cluster")
    environment = {
        "TF_CONFIG": f'{{"cluster": {_WORKERS}, "task": {{"type": "worker", "index": 1}}}}'
    }
    source = "the environment variable TF_CONFIG"
    assert _served(None, None, None, environment) == (jobs, "worker", 1, source)
    assert _served(None, None, 0, environment) == (jobs, "worker", 0, source)
    slurm = {
        "SLURM_JOB_ID": "7",
        "SLURM_PROCID": "1",
        "SLURM_STEP_NUM_TASKS": "2",
        "SLURM_STEP_NODELIST": "node[1-2]",
        "SLURM_STEP_TASKS_PER_NODE": "1(x2)",
    }
    assert _served(None, None, None, slurm)[1:3] == ("worker", 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, None, None, {}), "Write --cluster"),
        (("[", None, None, {}), "--cluster must be .* not valid JSON: .* Write --cluster '"),
        (
            ("[]", None, None, {}),
            "--cluster must be a JSON object, but it is '..'. Write --cluster",
        ),
        (
            (_WORKERS, "worker", 2, {}),
            "--index is 2, but the cluster lists 2 .*: indices are 0 to 1",
        ),
        (('{"worker": [1]}', None, 0, {}), '"cluster.worker.0." in --cluster must be'),
        ((_WORKERS, None, -1, {}), "--index is -1, but the cluster lists"),
        (
            (_WORKERS, "ps", 0, {}),
            '--job is "ps", but the cluster has 2 worker. Write --job worker',
        ),
        (
            ('{"ps": ["a:1"]}', None, 0, {}),
            "--job is not given, but the cluster has 1 ps. Write --job ps",
        ),
        (
            (
                None,
                None,
                2,
                {"TF_CONFIG": f'{{"cluster": {_WORKERS}, "task": {{"type": "worker"}}}}'},
            ),
            "--index is 2, but the cluster lists 2",
        ),
        ((_WORKERS, "evaluator", 0, {}), "nobody would find it"),
    ],
)
def test_a_task_that_cannot_serve(arguments, message: str) -> None:
    with pytest.raises(ClusterConfigError, match=message) as found:
        cli.served_task(*arguments)
    assert "export TF_CONFIG" not in str(found.value)


def test_a_server_whose_address_is_in_use_ends(monkeypatch, capsys) -> None:
    monkeypatch.setattr(nodes, "_IN_USE_SECONDS", 0.0)
    monkeypatch.setattr(nodes, "_end_when_asked", lambda: None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"localhost:{taken.getsockname()[1]}"
        assert cli.main(["server", "--cluster", f'{{"worker": ["{address}"]}}']) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"jaxtribute server: {address} is in use, so worker 0 cannot serve")


def test_a_server_between_machines_needs_a_token() -> None:
    arguments = ("server", "--cluster", '{"worker": ["192.0.2.2:2222"]}')
    result = run_command(*arguments, RAY_AUTH_TOKEN_PATH="", RAY_AUTH_TOKEN="")
    assert result.returncode == 2
    assert "set RAY_AUTH_TOKEN_PATH" in result.stderr
    assert "Traceback" not in result.stderr


class _Added:
    """An entry point; counts how often it is imported."""

    name = "greet"

    def __init__(self) -> None:
        self.loads = 0

    def load(self) -> Any:
        self.loads += 1

        def greet(parser: Any) -> Any:
            """Greet somebody."""
            parser.add_argument("whom")
            return lambda options: print(f"hello {options.whom}") or 3

        return greet


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> _Added:
    entry = _Added()
    groups = {"jaxtribute.commands": [entry]}
    monkeypatch.setattr(cli.metadata, "entry_points", lambda group: groups[group])
    return entry


def test_another_package_adds_a_subcommand(
    added: _Added, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["greet", "you"]) == 3
    assert capsys.readouterr().out == "hello you\n"
    assert cli.main([]) == 2
    assert "Greet somebody." in capsys.readouterr().err


def test_added_subcommands_are_imported_only_when_asked_for(added: _Added) -> None:
    assert list(cli.commands_for(["info"])) == ["info", "launch", "plan", "server"]
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert added.loads == 0
    assert "greet" in cli.commands_for(["--help"])
    assert added.loads == 1
