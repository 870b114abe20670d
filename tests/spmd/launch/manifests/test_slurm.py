"""The Slurm script, run by bash with a Slurm that runs everything on this machine."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spmd.errors import LaunchError
from spmd.launch.job import Job
from spmd.launch.manifests.slurm import render_slurm
from spmd.launch.tasks import Roles

# Starts the command of a step once for each node, waits for all, and passes SIGTERM on, as srun does.
SRUN = r"""#!/bin/bash
ranks=$SLURM_JOB_NUM_NODES
while [[ $1 == --* ]]; do
  [[ $1 != --ntasks=1 ]] || ranks=1
  [[ $1 != --nodelist=* ]] || export NODE=${1#*=}
  shift
done
processes=()
for ((rank = 0; rank < ranks; rank++)); do
  SLURM_PROCID=$rank "$@" &
  processes+=($!)
done
trap 'kill -TERM "${processes[@]}"' TERM
status=0
for process in "${processes[@]}"; do
  wait "$process" || status=$?
  while kill -0 "$process" 2>/dev/null; do wait "$process" || status=$?; done
done
exit $status
"""
SCONTROL = r"""#!/bin/bash
case $1 in
  show) tr , '\n' <<<"$3" ;;
  requeue) echo "requeued $2" ;;
esac
"""
REPORT = """
import os, sys
attempt, config = os.environ["JAXTRIBUTE_RESTART"], os.environ["TF_CONFIG"]
os.write(1, f"{attempt} {config} {sys.argv[1:]} {os.environ['A']}\\n".encode())
"""


@pytest.fixture
def sbatch(tmp_path: Path):
    """Runs a script as Slurm would, on nodes a, b and c; gives the process."""
    for name, text in {"srun": SRUN, "scontrol": SCONTROL, "sleep": "#!/bin/sh\n"}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "python").symlink_to(sys.executable)
    started = []

    def run(script: str, nodes: str = "a,b,c", **environment: str) -> subprocess.Popen:
        (tmp_path / "job.sbatch").write_text(script)
        process = subprocess.Popen(
            ["bash", tmp_path / "job.sbatch"],
            cwd=tmp_path,
            env={
                "PATH": f"{tmp_path}:{os.environ['PATH']}",
                "SLURM_JOB_ID": "1042",
                "SLURM_JOB_NODELIST": nodes,
                "SLURM_JOB_NUM_NODES": str(nodes.count(",") + 1),
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate(timeout=60)


def script_of(code: str, **options) -> str:
    job = Job("train", ("-c", code, "it's $A"), Roles(2, chief=True), {"A": "x '$y'"}, **options)
    return render_slurm(job)


@pytest.mark.multiprocess
def test_each_node_gets_its_own_task(sbatch) -> None:
    out, err = sbatch(script_of(REPORT)).communicate(timeout=60)
    assert not err
    tasks = []
    for line in out.splitlines():
        config, end = json.JSONDecoder().raw_decode(line[2:])
        assert line[:2] == "0 "
        assert line[2:][end:] == " [\"it's $A\"] x '$y'"
        assert config["cluster"] == {"chief": ["a:2642"], "worker": ["b:2642", "c:2642"]}
        tasks.append("{type} {index}".format(**config["task"]))
    assert sorted(tasks) == ["chief 0", "worker 0", "worker 1"]


@pytest.mark.multiprocess
def test_a_step_that_fails_starts_again_on_other_ports(sbatch) -> None:
    code = REPORT + "\nsys.exit(7 if attempt == '4' else 0)"
    process = sbatch(script_of(code), SLURM_RESTART_COUNT="4")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    lines = out.splitlines()
    assert sorted(line[0] for line in lines) == ["4"] * 3 + ["5"] * 3
    assert [":2642" in line for line in lines] == [line[0] == "4" for line in lines]
    assert "ended with exit status 7; restart 1 of 3 in 1 s" in err


@pytest.mark.multiprocess
def test_restarts_come_to_an_end(sbatch) -> None:
    process = sbatch(script_of("import sys; sys.exit(7)", max_restarts=2))
    _, err = process.communicate(timeout=60)
    assert process.returncode == 7
    assert err.count("restart") == 2


@pytest.mark.multiprocess
def test_so_do_time_limits_and_preemptions(sbatch) -> None:
    process = sbatch(script_of("print('ran')", max_interruptions=5), SLURM_RESTART_COUNT="6")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert not out
    assert "queued again 6 times, more than --max-interruptions 5 allows" in err


@pytest.mark.multiprocess
@pytest.mark.parametrize(
    ("sent", "queued"), [(signal.SIGUSR1, "requeued 1042\n"), (signal.SIGTERM, "")]
)
def test_a_job_that_must_end_saves_and_is_queued_again_for_its_time_limit(
    sbatch, sent: int, queued: str
) -> None:
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))\n"
        "os.write(1, b'ready\\n')\n"
        "signal.pause()"
    )
    process = sbatch(script_of(code))
    for _ in range(3):
        assert process.stdout.readline() == "ready\n"
    process.send_signal(sent)
    out, _ = process.communicate(timeout=60)
    assert out == queued
    assert process.returncode == 143


@pytest.mark.multiprocess
def test_another_number_of_nodes_is_an_error(sbatch) -> None:
    process = sbatch(script_of(REPORT), nodes="a,b")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert "Expected 3 nodes, but Slurm gave 2: a b. Write --nodes=3." in err


def test_bash_can_read_it() -> None:
    script = script_of("print('\"')", devices_per_worker=8)
    subprocess.run(["bash", "-n"], input=script, text=True, timeout=60, check=True)


def test_directives_ask_for_what_the_tasks_need() -> None:
    job = Job("train", ("train.py",), Roles(2), {}, devices_per_worker=8, grace_seconds=90)
    lines = render_slurm(job, ["a", "b"]).splitlines()
    for directive in (
        "--job-name=train",
        "--nodes=2",
        "--ntasks-per-node=1",
        "--gpus-per-node=8",
        "--nodelist=a,b",
        "--signal=B:USR1@90",
        "--requeue",
    ):
        assert f"#SBATCH {directive}" in lines


def test_the_processor_needs_no_gpus() -> None:
    job = Job("train", ("train.py",), Roles(2), {"JAX_PLATFORMS": "cpu"}, devices_per_worker=8)
    script = render_slurm(job)
    assert "gpus" not in script
    assert "export XLA_FLAGS=--xla_force_host_platform_device_count=8" in script


def test_an_evaluator_is_a_job_of_its_own() -> None:
    with pytest.raises(LaunchError, match="a job of its own"):
        render_slurm(Job("train", ("train.py",), Roles(2, evaluator=True)))


# What tasks with parameter servers begin with.
SERVED = """
import json, os, signal, stat, sys, time
task = "{type} {index}".format(**json.loads(os.environ["TF_CONFIG"])["task"])
attempt = os.environ["JAXTRIBUTE_RESTART"]
cluster = json.loads(os.environ["TF_CONFIG"])["cluster"]
def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.01)
def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())
"""


def served(code: str, **options) -> str:
    roles = Roles(2, chief=True, ps=1)
    job = Job("train", ("-c", SERVED + code), roles, token="only made by the script", **options)
    script = render_slurm(job)
    assert "only made" not in script
    return script


@pytest.mark.multiprocess
def test_each_task_is_a_step_that_starts_again_alone_until_the_chief_has_ended(
    sbatch, tmp_path: Path
) -> None:
    code = """
if attempt == "1":
    open(task, "w").close()
path = os.environ["RAY_AUTH_TOKEN_PATH"]
mode = oct(stat.S_IMODE(os.stat(path).st_mode))
say(task, attempt, os.environ["NODE"], os.environ.get("JAX_PLATFORMS"), len(open(path).read()), mode, cluster)
if attempt == "0" and task == "worker 1":
    os.kill(os.getpid(), signal.SIGKILL)
if attempt == "0" and task == "ps 0":
    sys.exit(0)
if task != "chief 0":
    signal.pause()
wait_for("worker 1")
wait_for("ps 0")
if attempt == "0":
    sys.exit(7)
"""
    process = sbatch(served(code), nodes="a,b,c,d")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    addresses = {"chief": ["a:2642"], "worker": ["b:2642", "c:2642"], "ps": ["d:2642"]}
    assert sorted(out.splitlines()) == sorted(
        f"{task} {attempt} {node} {platform} 64 0o600 {addresses}"
        for task, node, platform, attempts in (
            ("chief 0", "a", None, 2),
            ("worker 0", "b", None, 1),
            ("worker 1", "c", None, 2),
            ("ps 0", "d", "cpu", 2),
        )
        for attempt in range(attempts)
    )
    assert "worker 1 ended with exit status 137; restart 1 of 3 in 1 s" in err
    assert "chief 0 ended with exit status 7; restart 1 of 3 in 1 s" in err
    assert not list(tmp_path.glob(".train-*"))


@pytest.mark.multiprocess
@pytest.mark.parametrize("lost", ["ps 0", "worker"])
def test_the_chief_is_stopped_when_a_parameter_server_or_all_workers_are_lost(
    sbatch, lost: str
) -> None:
    code = f"""
if task.startswith({lost!r}):
    sys.exit(3)
signal.pause()
"""
    process = sbatch(served(code, max_restarts=1), nodes="a,b,c,d")
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "ended with exit status 3, and all 1 restarts are used up" in err


@pytest.mark.multiprocess
def test_the_job_goes_on_without_one_worker(sbatch, tmp_path: Path) -> None:
    code = """
if task == "worker 0":
    sys.exit(3)
if task != "chief 0":
    signal.pause()
wait_for(".train-1042/lost-1")
"""
    process = sbatch(served(code, max_restarts=0), nodes="a,b,c,d")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "worker 0 ended with exit status 3, and all 0 restarts are used up" in err


@pytest.mark.multiprocess
def test_the_chief_saves_what_servers_hold_when_the_time_limit_is_near(sbatch) -> None:
    code = """
if task == "chief 0":
    def save(*_):
        say("saved, with", open("server").read())
        sys.exit(143)
    signal.signal(signal.SIGTERM, save)
    wait_for("server")
    say("ready")
else:
    # Moved into place whole, for the chief looks as soon as the file is there.
    open("writing", "w").write("servers")
    os.replace("writing", "server")
signal.pause()
"""
    process = sbatch(served(code), nodes="a,b,c,d")
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGUSR1)
    out, _ = process.communicate(timeout=60)
    assert out == "saved, with servers\nrequeued 1042\n"
    assert process.returncode == 143


def test_a_node_that_is_lost_does_not_end_a_job_with_parameter_servers() -> None:
    assert "#SBATCH --no-kill" in served("").splitlines()
    assert "--no-kill" not in script_of("")
