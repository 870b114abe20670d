"""The options of `jaxtribute launch`."""

import subprocess
import sys
from pathlib import Path

import pytest

from spmd import cli
from tests.spmd.launch.schemas import read


def launch(*words: object) -> int:
    return cli.main(["launch", *map(str, words)])


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]):
    def run(*words: object) -> str:
        assert launch(*words) == 0
        return capsys.readouterr().out

    return run


def test_options_before_the_script_are_ours_and_those_after_it_are_its(printed) -> None:
    last = printed("--hosts", "a", "train.py", "--workers", 7, "--help").splitlines()[-1]
    assert last.endswith("python train.py --workers 7 --help")


def test_a_module_takes_the_place_of_a_script(printed) -> None:
    output = printed("--hosts", "a", "-m", "package.train", "--lr", "0.1")
    assert output.endswith("python -m package.train --lr 0.1\n")


def test_two_dashes_may_stand_before_the_script(printed) -> None:
    assert printed("--hosts", "a", "--", "train.py").endswith(" python train.py\n")


def test_the_job_is_named_after_the_script(printed) -> None:
    for words, name in [
        (["some/Train_1.py"], "train-1"),
        (["-m", "package.train"], "package-train"),
        (["--name", "other", "train.py"], "other"),
    ]:
        (manifest,) = read(printed("--render", "jobset", "--image", "i", *words))
        assert manifest["metadata"]["name"] == name


def test_every_option_of_a_pod_is_in_its_manifest(printed) -> None:
    secret, manifest = read(
        printed(
            *("--render", "tfjob", "--image", "registry/train:1", "--devices-per-worker", 4),
            *("--resource", "google.com/tpu", "--volume", "data:/data", "--env", "A=$(B)"),
            *("--node-selector", "kind=v5e", "--port", 2300, "--max-restarts", 5),
            *("--grace-seconds", 60, "--deadline-seconds", 7200, "--user", 1000, "--queue", "a"),
            *("--workers", 2, "train.py", "$(HOME)"),
        )
    )
    assert manifest["spec"]["runPolicy"]["backoffLimit"] == 5
    assert manifest["spec"]["runPolicy"]["activeDeadlineSeconds"] == 7200
    assert manifest["spec"]["runPolicy"]["suspend"] is True
    assert manifest["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "a"}
    pod = manifest["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == "registry/train:1"
    assert container["command"] == ["python", "train.py", "$$(HOME)"]
    assert {"name": "A", "value": "$$(B)"} in container["env"]
    assert container["resources"] == {"limits": {"google.com/tpu": 4}}
    assert container["volumeMounts"] == [
        {"name": "data", "mountPath": "/data"},
        {"name": "jaxtribute-token", "mountPath": "/var/run/jaxtribute", "readOnly": True},
    ]
    assert container["ports"][0]["containerPort"] == 2300
    assert pod["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "jaxtribute-token", "secret": {"secretName": secret["metadata"]["name"]}},
    ]
    assert pod["nodeSelector"] == {"kind": "v5e"}
    assert pod["terminationGracePeriodSeconds"] == 60
    assert pod["securityContext"]["runAsUser"] == 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Write jaxtribute launch --workers 2 train.py"),
        (["-m"], "Write jaxtribute launch --workers 2 train.py"),
        (["no_such_file.py"], "there is no file 'no_such_file.py'"),
        (["--workers", 0, __file__], "--workers 1"),
        (["--workers", "two", __file__], "Write, for example, --workers 4 or --workers 2:4"),
        (["--workers", "2:", __file__], "--workers 2:4"),
        (["--workers", "4:2", __file__], "Write --workers 2:4"),
        (["--workers", "0:3", __file__], "Write --workers 1:3"),
        (["--workers", "1:3", "--ps", 1, "--chief", __file__], "Write --workers 3"),
        (["--workers", "1:2", "--regrow-seconds", -1, __file__], "--regrow-seconds"),
        (["--workers", "1:2", "--hosts", "a,b,c", __file__], "Expected a host for each of 2 tasks"),
        (["--workers", "1:2", "--render", "slurm", __file__], "Write --workers 2, or --render"),
        (["--workers", "1:2", "--hosts", "a,b,c", "--chief", __file__], "Expected workers only"),
        (["--max-restarts", -1, __file__], "--max-restarts"),
        (["--grace-seconds", -1, __file__], "--grace-seconds"),
        (["--devices-per-worker", 0, __file__], "--devices-per-worker"),
        (["--render", "slurm", "--devices-per-worker", -1, __file__], "--devices-per-worker"),
        (["--render", "slurm", "--max-restarts", -1, __file__], "--max-restarts"),
        (["--env", "TF_CONFIG={}", __file__], "no --env TF_CONFIG"),
        (["--env", "RAY_AUTH_TOKEN=secret", __file__], "set RAY_AUTH_TOKEN_PATH to its path"),
        (["--ps", -1, __file__], "--ps to be from 0"),
        (["--ps", 1, "--chief", "--workers", 0, __file__], "--ps 1 --workers 1 --chief"),
        (["--render", "jobset", __file__], "--image REGISTRY/NAME:TAG"),
        (["--render", "jobset", "--hosts", "a", "--image", "i", __file__], "takes no --hosts"),
        (["--render", "slurm", "--name", "A b", __file__], "--name a-b"),
        (["--render", "slurm", "--port", 0, __file__], "between 1 and 65535"),
        (["--render", "slurm", "--deadline-seconds", 0, __file__], "--deadline-seconds"),
        (["--render", "slurm", "--max-interruptions", -1, __file__], "--max-interruptions"),
        (
            ["--render", "kubernetes", "--chief", "--image", "i", "--queue", "a", __file__],
            "--render jobset",
        ),
        (
            [
                "--render",
                "raycluster",
                "--ps",
                1,
                "--chief",
                "--image",
                "i",
                "--queue",
                "a",
                __file__,
            ],
            "--render jobset",
        ),
    ],
)
def test_what_cannot_be_is_explained(
    words: list[object], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert launch(*words) == 2
    output = capsys.readouterr()
    assert output.err.startswith("jaxtribute launch: Expected") or "takes no" in output.err
    assert message in output.err
    assert not output.out


def test_parameter_servers_bring_a_chief_and_a_secret(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--ps", 2, "--workers", 3, "--render", "jobset", "--image", "i", "train.py")
    assert launch(*words) == 0
    output = capsys.readouterr()
    assert "--ps adds a chief" in output.err
    secret, jobset = read(output.out)
    assert len(secret["stringData"]["auth_token"]) == 64
    jobs = {each["name"]: each["template"] for each in jobset["spec"]["replicatedJobs"]}
    pods = {name: job["spec"]["completions"] for name, job in jobs.items()}
    assert pods == {"chief": 1, "worker": 3, "ps": 2}


def test_tasks_that_serve_get_a_secret_on_request(printed, tmp_path: Path, monkeypatch) -> None:
    words = ("--render", "jobset", "--image", "i", "-m", "spmd.cli", "server")
    assert "kind: Secret" not in printed(*words)  # of a single task
    assert "kind: Secret" in printed("--workers", 2, *words)
    assert "auth_token" not in printed("--workers", 2, "--no-token", *words)
    assert "auth_token" not in printed("--hosts", "a,b", "train.py")
    assert "openssl" in printed("--hosts", "a,b", "--token", "train.py")
    (tmp_path / "token").write_text("given\n")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    assert "auth_token: given\n" in printed("--token", *words)


def test_an_elastic_job_has_a_secret(printed) -> None:
    words = ("--workers", "1:2", "train.py")
    assert "RAY_AUTH_TOKEN_PATH=" in printed("--hosts", "a,b", *words)
    assert "kind: Secret" in printed("--render", "kubernetes", "--image", "i", *words)


def test_an_elastic_job_has_the_settings_of_its_agents(printed) -> None:
    settings = ("--backoff-seconds", "9", "--settle-seconds", "2.5", "--join-seconds", "7")
    command = printed("--hosts", "a,b", *settings, "--workers", "1:2", "train.py").splitlines()[-1]
    assert command.endswith(f"--workers 1:2 {' '.join(settings)} train.py")


@pytest.mark.parametrize("words", [["--volume", "claim"], ["--render", "docker"]])
def test_what_cannot_be_read_shows_the_usage(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        launch(*words, __file__)
    assert exit_.value.code == 2
    assert words[-1] in capsys.readouterr().err


@pytest.mark.multiprocess
def test_a_module_is_started(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("import sys; print(__name__, sys.argv[1:])")
    root = str(Path(cli.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "spmd.cli", "launch", "-m", "module", "--flag"],
        cwd=tmp_path,
        env={"PYTHONPATH": root, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout == "[worker 0] __main__ ['--flag']\n"
