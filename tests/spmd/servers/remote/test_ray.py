"""Ray, as it is set up: how a program ends that uses it."""

import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("ray")

_PROGRAM = """
import signal, sys
from spmd.servers.remote import ClusterError
from spmd.source_lines import shorten_uncaught

shorten_uncaught()
own = {"__name__": "ray.fake" if sys.argv[1] == "interrupt" else "spmd.fake", "signal": signal, "ClusterError": ClusterError}
exec("def wait(): signal.raise_signal(signal.SIGINT)", own)
exec("def fail(): raise ClusterError('no cluster')", own)

def train():
    own["wait" if sys.argv[1] == "interrupt" else "fail"]()

train()
"""


@pytest.fixture
def run(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM)

    def run(ending: str, **environment: str) -> tuple[int, list[str]]:
        done = subprocess.run(
            [sys.executable, str(program), ending],
            env=os.environ | {"PYTHONPATH": os.getcwd()} | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stderr.splitlines()

    return run


def test_ctrl_c_ends_a_program_as_any_other(run):
    status, lines = run("interrupt")
    assert status == -signal.SIGINT
    assert _frames(lines) == ["<module>", "train"]
    assert lines[-1] == "KeyboardInterrupt"


def test_an_error_of_the_cluster_shows_the_programs_lines_only(run):
    status, lines = run("error")
    assert status == 1
    assert _frames(lines) == ["<module>", "train"]
    assert lines[-1] == "spmd.servers.remote.errors.ClusterError: no cluster"


def test_all_frames_can_be_kept(run):
    _, lines = run("error", JAX_TRACEBACK_FILTERING="off")
    assert _frames(lines) == ["<module>", "train", "fail"]


def _frames(lines: list[str]) -> list[str]:
    return [line.rpartition(" in ")[2] for line in lines if line.startswith("  File ")]
