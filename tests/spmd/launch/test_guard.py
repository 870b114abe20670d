"""The process that takes tasks along when the launcher dies."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spmd.launch.guard import Guard

pytestmark = pytest.mark.multiprocess

PAUSE = [sys.executable, "-c", "import signal; print('ready', flush=True); signal.pause()"]


@pytest.fixture
def start(request: pytest.FixtureRequest) -> Callable[[Guard], subprocess.Popen]:
    def on_leash(guard: Guard) -> subprocess.Popen:
        words, inherited = guard.leash(PAUSE)
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, start_new_session=True, pass_fds=(inherited,)
        )
        request.addfinalizer(lambda: (process.kill(), process.communicate()))
        assert process.stdout.readline() == b"ready\n"
        return process

    return on_leash


def test_what_is_on_the_leash_ends_with_the_guard(start: Callable) -> None:
    guard = Guard()
    process = start(guard)
    guard.close()
    assert process.wait(60) == -9


def test_what_was_released_is_left_alone(start: Callable) -> None:
    guard = Guard()
    released, kept = start(guard), start(guard)
    guard.release(released.pid)
    guard.close()
    assert kept.wait(60) == -9
    assert released.poll() is None


def test_the_command_does_not_hold_the_pipe_open(start: Callable) -> None:
    guard = Guard()
    process = start(guard)
    files = os.listdir(f"/proc/{process.pid}/fd")
    assert sorted(files) == ["0", "1", "2"]
    guard.close()


def test_a_folder_goes_with_the_guard(tmp_path: Path) -> None:
    guard = Guard()
    folder = tmp_path / "with a space"
    folder.mkdir()
    (folder / "file").touch()
    guard.remove(folder)
    guard.close()
    assert not folder.exists()


def test_a_guard_that_is_killed_is_no_error(start: Callable) -> None:
    guard = Guard()
    process = start(guard)
    guard._process.kill()
    guard._process.wait()
    guard.release(process.pid)
    guard.close()
