"""A job with parameter servers as users have them: on Ray, started and ended by the launcher."""

import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.multiprocess,
    pytest.mark.slow,
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(sys.platform != "linux", reason="Ray's nodes are ended by way of /proc"),
]

# Ray's processes take a while to start, most of all beside others of their kind.
PATIENCE = 300

# Counts; the first worker kills its task once.
_SCRIPT = """
    import time
    from frontends import tf
    job, index = config["task"]["type"], config["task"]["index"]
    if job != "chief":
        tf.distribute.Server(config["cluster"], job_name=job, task_index=index).join()
    strategy = tf.distribute.ParameterServerStrategy()
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        count = tf.Variable(0)
    folder = os.getcwd()

    def add():
        import os, signal, time
        index = tf.distribute.coordinator.experimental_get_current_worker_index()
        killed = os.path.join(folder, "killed")
        if index == 0 and not os.path.exists(killed):
            open(killed, "w").close()
            os.kill(int(os.environ["JAXTRIBUTE_TASK_OUTPUT"].split("/")[2]), signal.SIGKILL)
        time.sleep(0.01)
        count.assign_add(1)

    scheduled = 0
    while scheduled < int(os.environ["STEPS"]):
        for _ in range(50):
            coordinator.schedule(add)
        coordinator.join()
        scheduled += 50
        # What the killed worker had counted, but not reported, is counted twice.
        print("counted all", int(count.numpy()) >= scheduled, "of", scheduled)
"""
_OPTIONS = ("--ps", 1, "--workers", 2, "--chief", "--env", "JAX_PLATFORMS=cpu")


def processes_of(token: str) -> list[int]:
    """Finds the processes of a job by its secret, whoever is their parent now."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if f"RAY_AUTH_TOKEN_PATH={token}\0".encode() in environment:
            found.append(int(folder.name))
    return found


def shown_by(process: int) -> str:
    """Returns the command line of a process, which every user may read."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:  # it has ended
        return ""


def token_of(launcher) -> str:
    """Reads where the tasks of a running job have their secret."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            variables = (folder / "environ").read_text().split("\0")
        except OSError:
            continue
        if int(parent) == launcher.pid:
            for variable in variables:
                name, _, value = variable.partition("=")
                if name == "RAY_AUTH_TOKEN_PATH":
                    return value
    raise AssertionError("no task of the launcher runs")


def left_of(token: str) -> list[int]:
    """Returns what still runs of a job, once it had time to end."""
    end = time.monotonic() + 20
    while (left := processes_of(token)) and time.monotonic() < end:
        time.sleep(0.2)
    return left


def test_a_worker_that_is_killed_starts_again_and_the_job_ends_well(launch: Callable) -> None:
    launcher = launch(_SCRIPT, *_OPTIONS, STEPS="300")
    launcher.read_until("counted all True of 50")
    token = token_of(launcher)
    running = processes_of(token)
    assert len(running) > 10  # Ray's are among them
    assert not any(Path(token).read_text() in shown_by(process) for process in running)
    status, out, err = launcher.end()
    assert status == 0
    assert "counted all True of 300" in out
    assert re.search(r"0 │ worker 0 +│ SIGKILL", err)
    assert "restart 1 of 3 in 1 s (worker 0)" in err
    assert "chief 0 ended well (" in err
    assert "worker 1, ps 0 stopped (" in err
    assert left_of(token) == []
    assert not Path(token).exists()


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_a_launcher_that_is_ended_leaves_nothing_of_ray(launch: Callable, sent: int) -> None:
    launcher = launch(_SCRIPT, *_OPTIONS, STEPS="1000000")
    launcher.read_until("counted all True of 50")
    token = token_of(launcher)
    assert len(processes_of(token)) > 10
    launcher.send_signal(sent)
    launcher.end()
    assert left_of(token) == []
    assert not Path(token).exists()
