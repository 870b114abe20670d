"""Options that would break a manifest, or run in a shell, are refused with the line that mends them."""

import subprocess

import pytest
import yaml

from spmd import cli
from spmd.errors import LaunchError
from spmd.launch.checks import (
    address_of,
    check_all_differ,
    check_number,
    check_variable,
    read_workers,
)

IMAGE = ("--render", "kubernetes", "--image", "registry/train:1")


@pytest.fixture
def launch(capsys):
    def run(*words: str) -> tuple[int, str, str]:
        status = cli.main(["launch", *words])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--hosts", "::1,::2"),
            r"names '::1'\. Write an IPv6 address in brackets, .*--hosts '\[::1\]'",
        ),
        (("--hosts", "[::1%\ntouch pwned\n#]"), "Expected an IPv6 address in brackets"),
        (("--hosts", "a", "--env", "A=1", "--env", "A"), "several --env A"),
        (("--hosts", "a.localhost,localhost"), "names a.localhost and localhost"),
        (("--hosts", "a", "--port", "-5"), "Expected --port between 1 and 65535, but it is -5"),
        (("--hosts", "[::g]"), "Expected an IPv6 address in brackets"),
        (("--hosts", "a,a"), "names a more than once"),
        (("--hosts", "a,b,A:2222"), "names a and A:2222"),
        (("--hosts", "localhost,127.0.0.1"), "names localhost and 127.0.0.1"),
        (("--hosts", "[::1],[0:0::1]"), r"names \[::1\] and \[0:0::1\]"),
        (("--hosts", "a b,c"), "letters, digits, dashes and dots, but --hosts names 'a b'"),
        (("--hosts", "a;id"), "names 'a;id'"),
        (("--hosts", "a:0"), "the port of a between 1 and 65535, but it is 0"),
        (("--hosts", "a:x"), "but it is x"),
        (("--render", "slurm", "--hosts", "a,a"), "names a more than once"),
        (("--hosts", "a", "--devices-per-worker", "0"), "--devices-per-worker to be from 1"),
        (("--hosts", "a", "--max-restarts", "-1"), "--max-restarts to be from 0"),
        (
            ("--hosts", "a", "--grace-seconds", "nan"),
            "--grace-seconds to be from 0 to 1000000, but it is nan",
        ),
        (("--render", "slurm", "--backoff-seconds", "inf"), "--backoff-seconds .* it is inf"),
        ((*IMAGE, "--workers", "10000000"), "--workers to be from 1 to 10000"),
        (("--hosts", "a", "--env", "A;cmd;B=1"), "the name is 'A;cmd;B'"),
        (("--hosts", "a", "--env", "1A"), "the name is '1A'"),
        (("--render", "kubernetes", "--image", "x y"), "--image is 'x y'"),
        (
            (*IMAGE, "--volume", "data:folder"),
            "a path from the root, but --volume is 'data:folder'",
        ),
        ((*IMAGE, "--volume", "a:/x", "--volume", "a:/y"), "names a claim twice"),
        ((*IMAGE, "--node-selector", "x y=z"), "--node-selector is 'x y=z'"),
        ((*IMAGE, "--resource", "g p"), "--resource is 'g p'"),
        (
            ("--env", "JAXTRIBUTE_TEST_UNSET"),
            "Expected the value of JAXTRIBUTE_TEST_UNSET in the environment",
        ),
    ],
)
def test_what_is_refused(launch, tmp_path, words, message):
    script = tmp_path / "train.py"
    script.touch()
    status, output, error = launch(*words, str(script))
    assert (status, output) == (2, "")
    assert error.startswith("jaxtribute launch: Expected")
    with pytest.raises(LaunchError, match=message):
        raise LaunchError(error)


@pytest.mark.parametrize("least", [0, 1])
def test_numbers(least):
    for value in (least, 1_000_000, least + 0.5):
        check_number("--x", value, least)
    for value in (least - 1, 1_000_001, float("nan"), float("-inf")):
        with pytest.raises(LaunchError, match=f"--x to be from {least} to 1000000"):
            check_number("--x", value, least)


@pytest.mark.parametrize("text", ["", ":", "2:", ":4", "1:2:3", "a:b", "1.5", "²", "9" * 5000])
def test_a_number_of_workers_or_a_range(text):
    assert read_workers("-1:4") == (4, -1)  # said by what knows of a chief
    with pytest.raises(LaunchError, match="Write, for example, --workers 4 or --workers 2:4"):
        read_workers(text)


def test_a_variable_has_no_zero_byte():
    check_variable("_A1", "x\ny; $(z)")
    with pytest.raises(LaunchError, match="without zero bytes"):
        check_variable("A", "x\0y")


def test_addresses():
    assert address_of("a.b-c_1", 5) == "a.b-c_1:5"
    assert address_of("10.0.0.1:7", 5) == "10.0.0.1:7"
    assert address_of("[fd00::1]", 5) == "[fd00::1]:5"
    check_all_differ(["a:1", "a:2", "b:1"], ["a:1", "a:2", "b"])


def test_a_task_keeps_what_it_must_have(launch):
    """A parameter server computes on the processor, whatever the others have."""
    words = ("--ps", "1", "--env", "JAX_PLATFORMS", "train.py")
    _, output, _ = launch("--hosts", "a,b,c", *words)
    (server,) = [line for line in output.splitlines() if '"type": "ps"' in line]
    assert server.count("JAX_PLATFORMS=") == 1
    assert "JAX_PLATFORMS=cpu" in server
    _, output, _ = launch(*IMAGE, *words)
    variables = [one["name"] for one in _environments(list(yaml.safe_load_all(output)))]
    assert variables.count("JAX_PLATFORMS") == 3


def test_a_secret_is_written_nowhere(launch, monkeypatch, tmp_path):
    monkeypatch.setenv("WANDB_API_KEY", "a secret; x")
    words = ("--env", "WANDB_API_KEY", "--env", "A=1")
    _, output, _ = launch("--hosts", "a", *words, "train.py")
    command = output.splitlines()[-1].replace("python train.py", "printenv WANDB_API_KEY")
    shell = ["sh", "-c", command]
    assert "a secret" not in output
    assert (
        subprocess.run(shell, capture_output=True, text=True, check=True).stdout == "a secret; x\n"
    )
    monkeypatch.delenv("WANDB_API_KEY")
    assert (
        "WANDB_API_KEY: is not set on this host"
        in subprocess.run(shell, capture_output=True, text=True).stderr
    )
    _, output, _ = launch(*IMAGE, *words, "train.py")
    assert "kubectl create secret generic train-env --from-env-file=FILE" in output
    reference = {"secretKeyRef": {"name": "train-env", "key": "WANDB_API_KEY"}}
    assert {"name": "WANDB_API_KEY", "valueFrom": reference} in _environments(
        list(yaml.safe_load_all(output))
    )
    _, output, _ = launch("--render", "slurm", *words, "train.py")
    assert 'export WANDB_API_KEY="${WANDB_API_KEY:?is not set: export it before sbatch}"' in output


def _environments(manifest: object) -> list[object]:
    """Lists the variables of all containers in a manifest."""
    if isinstance(manifest, list):
        return [one for item in manifest for one in _environments(item)]
    if isinstance(manifest, dict):
        inner = [one for item in manifest.values() for one in _environments(item)]
        return [*manifest.get("env", []), *inner]
    return []
