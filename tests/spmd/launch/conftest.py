"""Launchers as processes of their own, with scripts that do not import JAX."""

import os
import select
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spmd import cli

ROOT = Path(__file__).resolve().parents[3]
# A task of these tests needs a moment; a machine that is busy needs this at most, unless a test file has a PATIENCE of its own.
PATIENCE = 120
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# What every script starts with.
_HEAD = """
import json, os, signal, subprocess, sys
config = json.loads(os.environ["TF_CONFIG"])
task = "{type} {index}".format(**config["task"])
attempt = int(os.environ["JAXTRIBUTE_RESTART"])
"""


class Launcher(subprocess.Popen):
    """A launcher that runs, and the lines that it has shown on standard output."""

    def read_until(self, *wanted: str) -> list[str]:
        """Reads until each of `wanted` has been in a line; gives the lines."""
        missing, lines = set(wanted), []
        while missing:
            line = self.stdout.readline().decode().rstrip("\n")
            assert line or self.poll() is None, f"ended without {missing}: {lines}"
            lines.append(line)
            missing -= {each for each in missing if each in line}
        return lines

    def end(self) -> tuple[int, str, str]:
        """Waits for its end; gives the exit status, the rest of its output, and standard error."""
        out, err = self.communicate(timeout=PATIENCE)
        return self.returncode, out.decode(), err.decode()


@pytest.fixture
def launch(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., Launcher]]:
    """Starts a launcher with a script, given as text after `_HEAD`."""
    started: list[Launcher] = []
    # Whoever waits for a line of a launcher that hangs, then finds its end.
    patience = getattr(request.module, "PATIENCE", PATIENCE)
    timer = threading.Timer(patience, lambda: [launcher.kill() for launcher in started])
    timer.start()

    def start(script: str, *options: object, **environment: str) -> Launcher:
        (tmp_path / "script.py").write_text(_HEAD + textwrap.dedent(script))
        words = [sys.executable, "-m", "spmd.cli", "launch", *map(str, options), "script.py"]
        variables = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "160", **environment}
        # Tests may run where one is ignored (nohup, a background job), which processes inherit.
        former = {each: signal.signal(each, signal.SIG_DFL) for each in _SIGNALS}
        launcher = Launcher(
            words, cwd=tmp_path, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for number, handler in former.items():
            signal.signal(number, handler)
        started.append(launcher)
        return launcher

    yield start
    timer.cancel()
    for launcher in started:
        launcher.kill()
        launcher.communicate(timeout=PATIENCE)


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Launches a script from this process, which saves the second that a new one takes to import JAX.

    Gives the exit status, standard output and standard error. For tests that need no launcher to signal.
    """

    def start(script: str, *options: object, **environment: str) -> tuple[int, str, str]:
        (tmp_path / "script.py").write_text(_HEAD + textwrap.dedent(script))
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            for name, value in {"COLUMNS": "160", **environment}.items():
                patch.setenv(name, value)
            status = cli.main(["launch", *map(str, options), "script.py"])
        return status, *capfd.readouterr()

    return start


@pytest.fixture
def ends() -> Callable[[int], bool]:
    """Tells whether a process, of whomever, ends within the time that these tests have."""

    def wait(process: int) -> bool:
        try:
            file = os.pidfd_open(process)
        except ProcessLookupError:
            return True
        with os.fdopen(file):
            readable, _, _ = select.select([file], [], [], PATIENCE)
        return bool(readable)

    return wait
