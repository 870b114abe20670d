"""Tasks that are killed, frozen and preempted, with what is stated in docs/parameter-servers.md for each."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from tests.frontends.tf.distribute.coordinator.remote_tasks import ROOT, Tasks, running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.multiprocess,
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
_HERE = Path(__file__).parent
_FROZEN = {"JAXTRIBUTE_FROZEN_SECONDS": "10"}
# Processes start slowly on a busy machine.
_START_SECONDS = 240.0


class Program:
    """The program of `remote_commands`."""

    def __init__(self, tasks: Tasks) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-u", str(_HERE / "remote_commands.py")],
            cwd=ROOT,
            env=tasks.environment("chief_0") | _FROZEN,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.answer() == "ready"

    def tell(self, command: str) -> None:
        """Sends a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        """Returns the next answer."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(json.JSONDecodeError):
                return json.loads(line)
            print(line, end="")
        raise AssertionError("The program has ended.")

    def ask(self, command: str) -> Any:
        """Sends a line, and returns its answer."""
        self.tell(command)
        return self.answer()

    def close(self) -> None:
        """Ends the program."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)


@contextlib.contextmanager
def program(tasks: Tasks) -> Generator[Program]:
    one = Program(tasks)
    try:
        yield one
    finally:
        with one.process:
            one.process.kill()


def processes(task: subprocess.Popen[bytes], name: str = "") -> list[int]:
    """Returns the processes of a task, those of whose command a name is part."""
    mark = f"JAXTRIBUTE_TASK_OUTPUT=/proc/{task.pid}/fd".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if name in command:
                    found.append(int(folder.name))
    return found


def until(condition: Callable[[], object], seconds: float) -> float:
    """Waits for a condition; returns how long that took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, f"not within {seconds} s"
        time.sleep(0.2)
    return time.monotonic() - began


def _comes_back(one: Program) -> None:
    until(lambda: 1 in one.ask("wait 20 0.05")["workers"], _START_SECONDS)


@pytest.fixture(scope="module")
def cluster() -> Generator[tuple[Tasks, Program]]:
    with running(workers=2, servers=1) as tasks, program(tasks) as one:
        yield tasks, one


def _signal(found: list[int], number: int) -> None:
    assert found
    for process in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)


def _harm(tasks: Tasks, how: str) -> None:
    """Harms the worker 1."""
    task = tasks.processes["worker_1"]
    if how == "task killed":
        task.kill()
    elif how == "task preempted":
        task.terminate()
    elif how == "raylet killed":
        _signal(processes(task, "raylet/raylet"), signal.SIGKILL)
    elif how == "actor killed":
        _signal(processes(task, "ray::WorkerActor"), signal.SIGKILL)
    elif how == "actor frozen":
        _signal(processes(task, "ray::WorkerActor"), signal.SIGSTOP)
    else:
        assert how == "task frozen"
        _signal([*processes(task), task.pid], signal.SIGSTOP)


def _mend(tasks: Tasks, how: str) -> None:
    task = tasks.processes["worker_1"]
    if how in ("task killed", "task preempted"):
        assert task.wait(30) == (143 if how == "task preempted" else -signal.SIGKILL)
        tasks.start("worker_1")
    elif how == "task frozen":
        _signal([task.pid, *processes(task)], signal.SIGCONT)


@pytest.mark.parametrize(
    "how",
    [
        "actor killed",
        "raylet killed",
        "task killed",
        "task preempted",
        "actor frozen",
        "task frozen",
    ],
)
def test_a_workers_closures_run_elsewhere_and_it_comes_back(cluster, how):
    tasks, one = cluster
    _comes_back(one)  # from the case before
    one.tell("wait 40 0.5")
    time.sleep(3)
    _harm(tasks, how)
    answer = one.answer()
    print(how, answer)
    assert answer["ran"] == 40
    assert 40 <= answer["counted"] <= 60  # at least once; a worker is handed at most 16 at once
    # Half the work is left for one worker; then 2 s for the first heartbeat, and 10 s without one.
    assert answer["seconds"] < 60
    _mend(tasks, how)
    _comes_back(one)


def test_a_worker_that_is_killed_between_two_closures_is_set_up_anew(cluster):
    tasks, one = cluster
    _comes_back(one)
    for _ in range(2):
        _harm(tasks, "actor killed")
        until(lambda: processes(tasks.processes["worker_1"], "ray::WorkerActor"), 60)
        assert one.ask("wait 20 0.05")["ran"] == 20
        _comes_back(one)


def test_a_long_closure_is_not_taken_for_a_frozen_worker(cluster):
    _, one = cluster
    _comes_back(one)
    answer = one.ask("hold 2 25")
    assert answer["workers"] == [0, 1]
    assert answer["counted"] == 2


def test_a_frozen_server_is_a_lost_one(cluster):
    """The last one: the cluster is of no use then."""
    tasks, one = cluster
    one.tell("wait 100 0.1")
    time.sleep(2)
    began = time.monotonic()
    _signal(processes(tasks.processes["ps_0"], "ray::StoreActor"), signal.SIGSTOP)
    assert "The parameter server ps 0 is gone" in one.answer()["lost"]
    assert time.monotonic() - began < 30
    assert "The parameter server ps 0 is gone" in one.ask("wait 1 0")["lost"]
    # What ran in the tasks for it is ended.
    until(
        lambda: not any(processes(task, "Actor") for task in tasks.processes.values()),
        60,
    )


def test_a_killed_server_ends_what_needs_it():
    with running(workers=1, servers=2) as tasks, program(tasks) as one:
        assert one.ask("fit 10 0") == {"iterations": 10}
        one.tell("fit 1000000 0")
        time.sleep(5)
        began = time.monotonic()
        tasks.processes["ps_0"].kill()
        assert "The parameter server ps 0 is gone" in one.answer()["lost"]
        print("noticed after", time.monotonic() - began)
        assert time.monotonic() - began < 15
        for command in ("read 0 0", "wait 1 0", "fit 10 0"):
            began = time.monotonic()
            assert "The parameter server ps 0 is gone" in one.ask(command)["lost"]
            assert time.monotonic() - began < 15


def test_an_interrupt_ends_the_program_and_what_runs_for_it():
    with running(workers=1, servers=1) as tasks, program(tasks) as one:
        one.tell("wait 1000 0.5")
        time.sleep(2)
        began = time.monotonic()
        one.process.send_signal(signal.SIGINT)
        one.process.wait(60)
        print("ended after", time.monotonic() - began)
        assert one.process.returncode not in (0, -signal.SIGKILL)
        until(lambda: not any(processes(task, "Actor") for task in tasks.processes.values()), 60)


@pytest.mark.parametrize("chief", [True, False])
def test_a_killed_coordinator_is_followed_by_the_next(chief):
    with running(workers=1, servers=1, chief=chief) as tasks:
        with program(tasks) as one:
            one.tell("wait 1000 0.1")
            time.sleep(2)
            assert all(processes(task, "Actor") for task in tasks.processes.values())
            one.process.kill()
            one.process.wait()
            seconds = until(
                lambda: not any(processes(task, "Actor") for task in tasks.processes.values()), 60
            )
            print("ended after", seconds)
        with program(tasks) as two:
            answer = two.ask("wait 20 0.01")
            assert answer["counted"] == 20
            # And at once, while the tasks still belong to the cluster of the one before.
            two.process.kill()
            two.process.wait()
        with program(tasks) as three:
            assert three.ask("wait 20 0.01")["counted"] == 20
            three.close()
            assert three.process.returncode == 0
        assert all(task.poll() is None for task in tasks.processes.values())
