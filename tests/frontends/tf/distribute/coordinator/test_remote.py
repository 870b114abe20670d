"""Parameter servers and workers in processes of their own, as clusters with TF_CONFIG have them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.frontends.tf.distribute.coordinator.remote_tasks import ROOT, last_line, running
from tests.golden.compare import same
from tests.golden.recording import load

pytestmark = [
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(sys.platform != "linux", reason="Ray's nodes are ended by way of /proc"),
]
_HERE = Path(__file__).parent
_MODULE = "tests.frontends.tf.distribute.coordinator"


@pytest.fixture(scope="module")
def recorded_cases() -> dict[str, dict[str, Any]]:
    with running(workers=1, servers=2) as tasks:
        return last_line(tasks.coordinate("-m", f"{_MODULE}.remote_golden", seconds=240))


def test_results_are_tensorflows(recorded_cases):
    recorded = load()
    assert len(recorded_cases) == 5
    for name, cases in recorded_cases.items():
        for case, result in cases.items():
            if "error" not in recorded[name][case]:
                assert same(result, recorded[name][case]), (name, case)


@pytest.fixture(scope="module")
def counted() -> dict[str, Any]:
    """What the counting program found, one of whose workers is killed on the way."""
    with running(workers=2, servers=1) as tasks:
        with subprocess.Popen(
            [sys.executable, str(_HERE / "remote_counting.py")],
            cwd=ROOT,
            env=tasks.environment("chief_0"),
            stdout=subprocess.PIPE,
            text=True,
        ) as program:
            assert program.stdout is not None
            lines = []
            for line in program.stdout:
                lines.append(line)
                if line == "half way\n":
                    tasks.processes["worker_1"].send_signal(signal.SIGKILL)
                    tasks.processes["worker_1"].wait()
                if line == "finished\n":
                    tasks.start("worker_1")
                if line == "back\n":
                    tasks.processes["ps_0"].kill()
                    tasks.processes["ps_0"].wait()
        found = json.loads(lines[-1])
        names = [f"worker_{index}" for index in range(2)] + ["ps_0"]
        processes = [tasks.processes[name].pid for name in names]
    found["left"] = _nodes_of(processes)
    return found


def _nodes_of(processes: list[int]) -> list[str]:
    """Returns what still runs of what some tasks started, once it had time to end."""
    end = time.monotonic() + 10
    while True:
        left = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environment = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(
                f"JAXTRIBUTE_TASK_OUTPUT=/proc/{process}/fd".encode() in environment
                for process in processes
            ):
                left.append(folder.name)
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.2)


def test_a_thousand_increments_are_a_thousand(counted):
    assert counted["count"] == 1000


def test_variables_that_a_function_makes_are_the_coordinators(counted):
    # The kernel and the bias; the iterations, the rate, and two slots for each.
    assert counted["weights"] == [2, 6]
    assert counted["iterations"] == 50
    assert max(counted["losses"]) == 9.0  # the first to run, which need not be the first scheduled
    assert counted["losses"][-1] < 0.5


def test_an_error_has_the_workers_traceback(counted):
    message, cause = counted["error"]
    assert message == "a mistake"
    assert 'raise ValueError("a mistake")' in cause


def test_errors_that_cannot_travel_are_described(counted):
    errors = counted["errors"]
    for name, text in [("unpicklable", "Unpicklable: strange"), ("of two", "OfTwo: strange too")]:
        cls, message, cause, is_same = errors[name]
        assert (cls, message, is_same) == ("RuntimeError", text, "True")
        assert "raise " in cause


def test_a_function_that_exits_is_an_error(counted):
    cls, message, cause, _ = counted["errors"]["leave"]
    assert cls == "RuntimeError"
    assert message.startswith("A closure raised SystemExit(3)")
    assert "sys.exit(3)" in cause


def test_errors_of_datasets_are_raised(counted):
    cls, message, cause, _ = counted["errors"]["dataset"]
    assert cls == "KeyError"
    assert "no such file" in message
    assert "fail_in_dataset" in cause


def test_a_dataset_that_ends_is_tensorflows_error_and_cancels_what_waits(counted):
    message, cause = counted["end"]
    assert message.startswith("End of sequence")
    assert "OutOfRangeError" in cause
    assert counted["cancelled"] > 0


def test_a_result_is_an_argument(counted):
    assert counted["doubled"] == 2.0


def test_what_a_killed_worker_was_running_runs_elsewhere(counted):
    assert counted["all_ran"]
    assert counted["copies"] >= 400
    assert counted["back"]


def test_a_killed_server_is_an_error_that_scripts_catch(counted):
    assert len(counted["lost"]) == 3
    assert all("The parameter server ps 0 is gone" in message for message in counted["lost"])


def test_nothing_of_ray_is_left(counted):
    assert counted["left"] == []


def test_the_front_end_imports_no_ray():
    code = "import sys, spmd; from frontends import tf; tf.distribute.ParameterServerStrategy; print('ray' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.strip() == "False"
