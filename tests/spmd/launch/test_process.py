"""The process of one task."""

import io
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from spmd.cluster import Task
from spmd.launch.guard import Guard
from spmd.launch.output import Printer
from spmd.launch.process import Process

pytestmark = pytest.mark.multiprocess


@pytest.fixture
def start() -> Iterator[Callable[[str], Process]]:
    """Starts Python with some code."""
    printer, guard = Printer(io.StringIO(), io.StringIO()), Guard()

    def one(code: str) -> Process:
        command = [sys.executable, "-S", "-c", code]
        return Process(Task("worker", 0), command, dict(os.environ), printer, guard)

    yield one
    guard.close()
    printer.close(60)


def wait(process: Process) -> int:
    deadline = time.monotonic() + 60
    while not process.has_ended():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.drain(60)
    assert process.returncode is not None
    return process.returncode


def test_its_exit_code_and_last_lines_are_known(start: Callable) -> None:
    process = start("import sys; print('first', file=sys.stderr); sys.exit('last')")
    assert wait(process) == 1
    assert tuple(process.last_lines.lines) == ("first", "last")
    assert process.seconds > 0


def test_it_has_a_process_group_of_its_own(start: Callable) -> None:
    process = start("import signal; signal.pause()")
    assert process.number not in (os.getpgid(0), os.getpid())
    process.send(signal.SIGTERM)
    assert wait(process) == -signal.SIGTERM
    process.send(signal.SIGTERM)  # too late, which is no error
