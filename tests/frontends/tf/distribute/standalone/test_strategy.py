"""Programs whose steps run in a cluster that they are no task of."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from frontends import tf
from tests.conftest import environment_of_processes
from tests.frontends.tf.distribute.standalone.servers import HERE, ROOT, serving
from tests.frontends.tf.distribute.standalone.training import train

pytest.importorskip("ray")
pytestmark = [
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(sys.platform != "linux", reason="Ray's nodes are ended by way of /proc"),
]


@pytest.fixture(scope="module")
def environment(pytestconfig, tmp_path_factory) -> dict[str, str]:
    return environment_of_processes(pytestconfig, tmp_path_factory)


@pytest.fixture(scope="module")
def printed(environment) -> list[str]:
    with serving(2, environment) as servers, servers.program("program.py") as program:
        output, _ = program.communicate(timeout=400)
    return output.splitlines()


@pytest.fixture(scope="module")
def found(printed) -> dict[str, Any]:
    return json.loads(next(line for line in reversed(printed) if line.startswith("{")))


def test_it_trains_as_replicas_of_one_process_do(found):
    here = train(tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]))
    assert here["iterations"] == found["iterations"] == 4
    assert found["fit"].keys() == here["fit"].keys()
    for name in ("loop", "mean", "slots", "arrays", "predicted"):
        assert found[name] == pytest.approx(here[name], rel=1e-4, abs=1e-5), name
    for name, values in here["fit"].items():
        assert found["fit"][name] == pytest.approx(values, rel=1e-4, abs=1e-5), name


def test_the_strategy_is_tensorflows(found):
    assert found["replicas"] == 2
    assert found["strategy"]


def test_results_of_replicas_are_combined_in_the_cluster(found):
    assert found["distributed"]
    assert found["local_results"] == [4.0, 4.0]
    assert found["reduced"] == 8.0
    assert found["gathered"] == 8


def test_each_worker_makes_its_own_dataset(found):
    assert found["parts"] == [1, 5]


def test_variables_are_read_and_written_here(found):
    assert found["count"] == [6.0, 12.0]
    assert found["assigned"] == 11.0
    assert found["restored"] == 12.0


def test_an_iterator_ends_in_a_function(found):
    assert found["read"] == [8, 8, 8, 3]


def test_an_error_has_the_workers_traceback(found):
    message, cause = found["error"]
    assert message == "'a mistake'"
    assert 'raise KeyError("a mistake")' in cause


def test_what_the_first_worker_prints_is_printed_here(printed):
    assert printed.count("traced in the cluster") == 1
    assert printed.count("a number: 2") == 1


def test_functions_run_in_the_cluster_unless_another_strategy_is_in_force(found):
    assert found["there"]
    assert found["here"]


def test_what_is_refused(found):
    assert "makes variables whenever it is called" in found["always"]
    assert "MirroredStrategy" in found["verify"]
    assert "dataset.skip(step)" in found["position"]


@pytest.mark.slow
def test_numbers_are_those_of_a_program_in_the_cluster(found, environment):
    path = HERE / "inside.py"
    command = [sys.executable, "-m", "spmd.cli", "launch", "--workers", "2", str(path)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=True,
    )
    line = next(one for one in done.stdout.splitlines() if "worker 0" in one and '{"loop"' in one)
    inside = json.loads(line[line.index("{") :])
    assert {name: found[name] for name in inside} == inside


@pytest.mark.slow
def test_a_lost_worker_is_an_error_and_the_program_goes_on(environment):
    with serving(2, environment) as servers, servers.program("losing.py") as program:
        lines = []
        assert program.stdout is not None
        for line in program.stdout:
            lines.append(line)
            if line.startswith("kill "):
                servers.kill(int(line.split()[1]))
            if line.startswith("start "):
                servers.start(int(line.split()[1]))
        assert program.wait() == 0
    lost = json.loads(next(line for line in reversed(lines) if line.startswith("{")))
    for index, message in zip((1, 0), lost["errors"], strict=True):
        assert message.startswith(f"worker {index} is gone")
    assert lost["counts"] == [25.0, 30.0]


@pytest.mark.slow
def test_an_error_of_one_worker_ends_the_processes_and_the_program_goes_on(environment):
    with serving(2, environment) as servers, servers.program("failing.py") as program:
        output, _ = program.communicate(timeout=400)
    found = json.loads(next(line for line in reversed(output.splitlines()) if line[:1] == "["))
    assert len(found) == 2
    for counted, message, note, cause, afterwards in found:
        assert counted == "102.0"
        assert message == "'a mistake of one worker'"
        assert note == "Only worker 1 failed, so the processes of the strategy were ended."
        assert 'raise KeyError("a mistake of one worker")' in cause
        assert "because worker 1 failed and the others did not. Make a new strategy" in afterwards


@pytest.mark.slow
def test_an_error_of_fit_is_that_of_the_batch_that_failed(environment):
    with serving(1, environment) as servers, servers.program("mistaken.py") as program:
        output, _ = program.communicate(timeout=400)
    *errors, steps = json.loads(
        next(line for line in reversed(output.splitlines()) if line[:1] == "[")
    )
    assert len(errors) == 3
    for error in errors:
        assert re.match("ValueError: .*expected axis -1 of input shape to have value 4", error)
    assert steps == 16


@pytest.mark.slow
def test_a_killed_fit_resumes_from_its_backup(environment, tmp_path):
    def fit(folder: str, *, kills: str = "no") -> dict[str, Any] | None:
        with servers.program("resuming.py", str(tmp_path / folder), kills) as program:
            output, _ = program.communicate(timeout=400)
        found = [line for line in output.splitlines() if line.startswith("{")]
        return json.loads(found[0]) if found else None

    with serving(2, environment) as servers:
        whole = fit("whole")
        assert fit("broken", kills="yes") is None
        resumed = fit("broken")
    assert whole is not None
    assert resumed is not None
    assert resumed["begun"] == [[1, 12], [2, 16]]
    assert resumed["losses"] == whole["losses"][1:]
    assert resumed["weights"] == whole["weights"]


@pytest.mark.slow
def test_the_coordinator_of_parameter_servers_is_elsewhere(environment):
    with (
        serving(2, environment, servers=1) as servers,
        servers.program("coordinating.py") as program,
    ):
        output, _ = program.communicate(timeout=400)
    found = json.loads(next(line for line in output.splitlines() if line.startswith("{")))
    assert found["count"] == 200
    assert found["losses"][1] < found["losses"][0] / 2


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_program_that_is_ended_leaves_the_cluster_to_the_next_one(number, environment):
    with serving(2, environment) as servers:
        for _ in range(2):
            with servers.program("endless.py") as program:
                assert program.stdout is not None
                assert "ready\n" in iter(program.stdout.readline, "")
                members = _members()
                assert len(members) >= 2
                time.sleep(2)
                program.send_signal(number)
                output, _ = program.communicate(timeout=60)
                assert program.returncode == -number
                if number == signal.SIGINT:
                    frames = [line for line in output.splitlines() if line.startswith("  File ")]
                    assert [line.partition('"')[2].partition('"')[0] for line in frames] == [
                        str(HERE / "endless.py")
                    ]
                    assert output.endswith("\nKeyboardInterrupt\n")
                end = time.monotonic() + 30
                while set(_members()) & set(members) and time.monotonic() < end:
                    time.sleep(0.2)
                assert not set(_members()) & set(members)


def _members() -> list[int]:
    """Returns the processes that work for programs, of all clusters on this machine."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if re.match(rb"ray::Member", name):
            found.append(int(folder.name))
    return found
