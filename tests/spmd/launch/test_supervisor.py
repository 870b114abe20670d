"""Real processes: started together, watched, stopped and started again."""

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.multiprocess


def test_all_find_their_place_and_devices_and_end_well(run: Callable) -> None:
    script = """
        print(task, attempt, *(f"{kind}: {len(config['cluster'][kind])}" for kind in config["cluster"]))
        print("careful", file=sys.stderr)
        print(os.environ["A"], os.environ["JAX_PLATFORMS"], os.environ["XLA_FLAGS"])
    """
    options = ("--devices-per-worker", 3, "--env", "A=b=c", "--env", "JAX_PLATFORMS=cpu")
    tasks = ("--chief", "--workers", 2, "--evaluator")
    status, out, err = run(script, *tasks, *options, XLA_FLAGS="")
    assert status == 0
    names = ("chief 0", "evaluator 0", "worker 0", "worker 1")
    devices = "--xla_force_host_platform_device_count=3"
    assert sorted(out.splitlines()) == sorted(
        line
        for name in names
        for line in (f"[{name}] {name} 0 chief: 1 worker: 2", f"[{name}] b=c cpu {devices}")
    )
    assert "[worker 1] careful" in err
    assert "chief 0, worker 0, worker 1 ended well" in err
    assert "first to end" not in err  # no table when there is nothing to tell


def test_nothing_is_lost_when_a_task_is_killed(launch: Callable) -> None:
    script = r"""
        for number in range(5_000):
            print("line", number)
        print("\udcff", "no end", end="")
        os.kill(os.getpid(), signal.SIGKILL)
    """
    launcher = launch(script, "--max-restarts", 0, PYTHONIOENCODING="utf-8:surrogateescape")
    out, err = launcher.communicate(timeout=120)
    expected = b"".join(b"[worker 0] line %d\n" % number for number in range(5_000))
    assert out == expected + b"[worker 0] \xff no end\n"
    assert launcher.returncode == 128 + signal.SIGKILL
    assert b"SIGKILL" in err


def test_when_one_fails_all_start_again_on_fresh_ports(run: Callable) -> None:
    script = """
        print("ports", *config["cluster"]["worker"])
        if attempt == 0 and task == "worker 1":
            sys.exit("first try")
        if attempt == 0:
            signal.pause()
    """
    status, out, err = run(script, "--workers", 2, "--backoff-seconds", 0)
    assert status == 0
    assert len(set(re.findall(r"ports .*", out))) == 2  # one each time, the same for both workers
    assert "worker 1 ended with exit code 1 after" in err
    assert "SIGTERM to worker 0; SIGKILL in 30 s" in err
    assert "restart 1 of 3 in 0 s" in err
    assert re.search(r"0 │ worker 1 +│ exit code 1 +│ +[0-9.]+ s │ first try", err)
    assert "worker 0, worker 1 ended well after 1 restart" in err


def test_a_task_that_is_killed_makes_all_start_again(run: Callable) -> None:
    script = """
        import time
        if attempt == 0 and task == "worker 1":
            open("ready", "w").close()
            signal.pause()
        if attempt == 0:
            while not os.path.exists("ready"):
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGKILL)
    """
    status, _, err = run(script, "--workers", 2, "--backoff-seconds", 0)
    assert status == 0
    assert re.search(r"0 │ worker 0 +│ SIGKILL", err)


def test_a_lost_worker_is_left_out_and_taken_back(run: Callable, tmp_path: Path) -> None:
    script = """
        import time
        slot = os.environ["CUDA_VISIBLE_DEVICES"]
        print("attempt", attempt, task, "of", len(config["cluster"]["worker"]), "on", slot)
        if attempt == 0:
            open(f"ready-{slot}", "w").close()
            while len([name for name in os.listdir() if name.startswith("ready")]) < 3:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGKILL) if slot == "1" else signal.pause()
        elif attempt == 1:
            signal.pause()
    """
    options = ("--workers", "1:3", "--backoff-seconds", 0, "--regrow-seconds", 0.5)
    gpus = {"JAX_PLATFORMS": "cuda", "CUDA_VISIBLE_DEVICES": "0,1,2"}
    status, out, err = run(script, *options, **gpus)
    assert status == 0
    assert sorted(re.findall("attempt .*", out)) == [
        "attempt 0 worker 0 of 3 on 0",
        "attempt 0 worker 1 of 3 on 1",
        "attempt 0 worker 2 of 3 on 2",
        "attempt 1 worker 0 of 2 on 0",
        "attempt 1 worker 1 of 2 on 2",
        "attempt 2 worker 0 of 3 on 0",
        "attempt 2 worker 1 of 3 on 1",
        "attempt 2 worker 2 of 3 on 2",
    ]
    assert "worker 1 was lost; goes on with 2 of 3 workers, and tries 3 again in 0.5 s" in err
    assert "worker 0, worker 1, worker 2 ended well after 1 restart" in err


def test_restarts_come_to_an_end(run: Callable) -> None:
    script = "sys.exit(f'try {attempt}') if task == 'worker 0' else signal.pause()"
    status, _, err = run(script, "--workers", 2, "--max-restarts", 2, "--backoff-seconds", 0)
    assert status == 1
    assert "all 2 restarts are used up (--max-restarts 2)" in err
    assert re.search(r"2 │ worker 0 .* try 2", err)


def test_the_same_error_at_once_is_tried_twice_only(run: Callable) -> None:
    status, _, err = run("import no_such_module", "--workers", 2, "--backoff-seconds", 0)
    assert status == 1
    assert "another one would end in the same way" in err
    assert "failed after 1 restart" in err


def test_one_that_does_not_end_when_asked_is_killed(run: Callable, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "deaf")
    script = """
        if task == "worker 1":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            open("deaf", "w").close()
            while True: signal.pause()
        open("deaf").close()  # waits for the other one
        sys.exit(7)
    """
    status, _, err = run(script, "--workers", 2, "--max-restarts", 0, "--grace-seconds", 0)
    assert status == 7
    assert "worker 1 did not end within 0 s: SIGKILL" in err


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        signal.SIGINT,
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_a_signal_is_passed_on_and_nothing_starts_again(launch: Callable, sent: int) -> None:
    script = """
        def stop(number, frame):
            print("got", signal.Signals(number).name)
            sys.exit(143)
        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        print("ready", task)
        signal.pause()
    """
    launcher = launch(script, "--workers", 2)
    launcher.read_until("ready worker 0", "ready worker 1")
    launcher.send_signal(sent)
    status, out, err = launcher.end()
    passed_on = "SIGINT" if sent == signal.SIGINT else "SIGTERM"
    assert sorted(out.splitlines()) == [
        f"[worker 0] got {passed_on}",
        f"[worker 1] got {passed_on}",
    ]
    assert status == 143
    assert "worker 0, worker 1 stopped" in err
    assert "restart" not in err


def test_a_second_signal_kills(launch: Callable) -> None:
    script = """
        signal.signal(signal.SIGTERM, lambda *_: print("deaf"))
        print("ready", task)
        while True: signal.pause()
    """
    launcher = launch(script, "--workers", 2)
    launcher.read_until("ready worker 0", "ready worker 1")
    launcher.terminate()
    launcher.read_until("[worker 0] deaf", "[worker 1] deaf")
    launcher.terminate()
    status, _, err = launcher.end()
    assert status == 128 + signal.SIGKILL
    assert "SIGTERM again: SIGKILL to all" in err


@pytest.mark.slow
def test_a_signal_while_it_waits_for_a_restart_ends_it(launch: Callable) -> None:
    launcher = launch("sys.exit(5)", "--backoff-seconds", 60, "--max-restarts", 5)
    for line in launcher.stderr:
        if b"restart 1 of 5 in 60 s" in line:
            break
    launcher.terminate()
    assert launcher.end()[0] == 5


def test_what_a_task_leaves_behind_ends_with_it(run: Callable, ends: Callable) -> None:
    script = """
        helper = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
        print("helper", helper.pid)
    """
    status, out, _ = run(script)
    assert status == 0
    assert ends(int(out.split()[-1]))


def test_a_launcher_that_is_killed_leaves_nobody(launch: Callable, ends: Callable) -> None:
    script = """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        helper = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
        print(task, "processes", os.getpid(), helper.pid)
        while True: signal.pause()
    """
    launcher = launch(script, "--workers", 2)
    lines = launcher.read_until("worker 0 processes", "worker 1 processes")
    processes = [int(word) for line in lines for word in line.split()[-2:]]
    launcher.kill()
    assert len(processes) == 4
    assert all(ends(process) for process in processes)


def test_an_evaluator_that_goes_on_is_stopped_after_the_training(run: Callable) -> None:
    script = "if task == 'evaluator 0': signal.pause()"
    status, _, err = run(script, "--evaluator", "--evaluator-seconds", 0)
    assert status == 0
    assert "the evaluator has 0 s to end by itself" in err
    assert "evaluator 0 stopped" in err


def test_an_evaluator_that_fails_starts_again_alone(run: Callable) -> None:
    script = """
        import time
        print("start of", task)
        if task == "evaluator 0" and attempt < 2:
            sys.exit(f"try {attempt}")
        if task == "evaluator 0":
            open("evaluated", "w").close()
        while not os.path.exists("evaluated"):
            time.sleep(0.01)
    """
    status, out, err = run(script, "--evaluator", "--backoff-seconds", 0)
    assert status == 0
    assert out.count("start of evaluator") == 3
    assert out.count("start of worker") == 1
    assert "worker 0 ended well (" in err
    assert "evaluator 0 ended well after 2 restarts" in err


def test_a_training_that_fails_takes_the_evaluator_along(run: Callable) -> None:
    script = "signal.pause() if task == 'evaluator 0' else sys.exit(9)"
    status, _, err = run(script, "--evaluator", "--max-restarts", 0)
    assert status == 9
    assert "the training failed: SIGTERM to evaluator 0" in err


# What a script with parameter servers does, without Ray: workers and servers serve, the chief waits for a word.
_SERVED = """
import time
def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.01)
if attempt == 1:
    open(task, "w").close()
print("start of", task, attempt, *(port for ports in config["cluster"].values() for port in ports))
"""


def test_a_task_of_a_job_with_parameter_servers_starts_again_alone_on_its_port(
    run: Callable,
) -> None:
    script = f"""{_SERVED}
if attempt == 0 and task == "worker 1":
    os.kill(os.getpid(), signal.SIGKILL)
if attempt == 0 and task == "ps 0":
    sys.exit(0)
if task != "chief 0":
    signal.pause()
wait_for("worker 1")
wait_for("ps 0")
if attempt == 0:
    sys.exit("the parameter server is gone")
"""
    status, out, err = run(script, "--ps", 2, "--workers", 2, "--chief", "--backoff-seconds", 0)
    assert status == 0
    tasks = ["chief 0", "worker 0", "worker 1", "ps 0", "ps 1"]
    started = [re.search(r"start of (\w+ \d) (\d) (.*)", line) for line in out.splitlines()]
    assert sorted(match[1] for match in started) == sorted([*tasks, "chief 0", "worker 1", "ps 0"])
    assert {match[1] for match in started if match[2] == "1"} == {"chief 0", "worker 1", "ps 0"}
    (addresses,) = {match[3] for match in started}  # the same for all, whenever they started
    assert len(set(addresses.split())) == 5
    assert re.search(r"0 │ ps 0 +│ exit code 0", err)
    assert "the chief has ended: SIGTERM to worker 0, worker 1, ps 0, ps 1" in err
    assert "chief 0 ended well after 1 restart" in err


def test_the_tasks_of_a_job_share_a_secret_that_no_command_line_shows(run: Callable) -> None:
    script = """
        path = os.environ["RAY_AUTH_TOKEN_PATH"]
        if task == "ps 0" and os.environ["JAX_PLATFORMS"] == "cpu":
            open("ready", "w").close()
        if task != "chief 0":
            signal.pause()
        import time
        while not os.path.exists("ready"):
            time.sleep(0.01)
        token = open(path).read()
        commands = [open(f"/proc/{name}/cmdline").read() for name in (os.getpid(), os.getppid())]
        print("token", len(token), oct(os.stat(path).st_mode)[-3:], token in "".join(commands), path)
    """
    status, out, err = run(script, "--ps", 1)
    assert status == 0
    found = re.search(r"token (.*) (\S+)\n", out)
    assert found[1] == "64 600 False"
    assert not Path(found[2]).exists()
    assert "--ps adds a chief" in err
