"""Runs in which a task is killed at a random moment: two with a worker and one with a server, or as many as asked for.

JAXTRIBUTE_KILL_RUNS=10 makes that ten and five, and `-s` prints how long each of them took.
"""

import math
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.frontends.tf.distribute.coordinator.remote_tasks import ROOT, last_line, running
from tests.frontends.tf.distribute.coordinator.test_failures import program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.multiprocess,
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(sys.platform != "linux", reason="Ray's nodes are ended by way of /proc"),
]
RUNS = int(os.environ.get("JAXTRIBUTE_KILL_RUNS", "2"))
_HERE = Path(__file__).parent
_RESTART_SECONDS = 1.0
# Of 200 functions that take 0.05 s, on two workers or one; with room for a busy machine.
_WORKER_SECONDS = 60.0
_NOTICE_SECONDS = 15.0
# To the end of the training: a task starts in 5 s, and on a busy machine in a minute.
_SERVER_SECONDS = 240.0


def test_all_functions_run_though_a_worker_is_killed():
    moments = random.Random(0)
    with running(workers=2, servers=1) as tasks:
        for number in range(RUNS):
            with program(tasks) as one:
                one.tell("wait 200 0.05")
                time.sleep(moments.uniform(0, 5))
                name = f"worker_{moments.randrange(2)}"
                tasks.processes[name].kill()
                tasks.processes[name].wait()
                time.sleep(_RESTART_SECONDS)
                tasks.start(name)
                answer = one.answer()
                one.close()
                print(f"run {number}: {name} killed, {answer}", flush=True)
                assert answer["ran"] == 200
                assert answer["counted"] >= 200
                assert answer["seconds"] < _WORKER_SECONDS
                assert one.process.returncode == 0


def test_a_script_restores_when_a_server_is_killed(tmp_path):
    moments = random.Random(1)
    with running(workers=2, servers=2) as tasks:
        for number in range(math.ceil(RUNS / 2)):
            command = [
                str(_HERE / "remote_restoring.py"),
                str(tmp_path / str(number)),
                "2000",
                "100",
            ]
            with subprocess.Popen(
                [sys.executable, "-u", *command],
                cwd=ROOT,
                env=tasks.environment("chief_0"),
                stdout=subprocess.PIPE,
                text=True,
            ) as script:
                assert script.stdout is not None
                lines: list[str] = []
                killed = noticed = 0.0
                for line in script.stdout:
                    lines.append(line)
                    if line.startswith("saved") and not killed:
                        time.sleep(moments.uniform(0, 3))
                        name = f"ps_{moments.randrange(2)}"
                        tasks.processes[name].kill()
                        killed = time.time()
                        tasks.processes[name].wait()
                        time.sleep(_RESTART_SECONDS)
                        tasks.start(name)
                    if line.startswith("lost") and not noticed:
                        noticed = float(line.split()[1])
                took = time.time() - killed
            assert script.returncode == 0
            found = last_line("".join(lines))
            print(
                f"run {number}: {name} killed, noticed after {noticed - killed:.1f} s, ended after {took:.1f} s: "
                f"{[line.strip() for line in lines if line.startswith('from')]}, {found['done']} steps",
                flush=True,
            )
            assert noticed - killed < _NOTICE_SECONDS
            assert took < _SERVER_SECONDS
            assert f"The parameter server {name.replace('_', ' ')} is gone" in found["lost"][0]
            assert found["done"] >= 2000
            assert found["weight"] == pytest.approx([0, 1, 2, 3], abs=0.01)
