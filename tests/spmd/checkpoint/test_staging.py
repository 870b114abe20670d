"""Folders for copies are deleted by their process, or after it."""

import fcntl
import os
import tempfile

import pytest

from spmd.checkpoint.staging import StagingFolder


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_it_goes_with_its_object(tmp_path):
    folder = StagingFolder()
    with open(os.path.join(folder.path, "a"), "w") as file:
        file.write("one")
    del folder
    assert list(tmp_path.iterdir()) == []


def test_that_of_a_process_that_runs_stays_and_that_of_a_killed_one_goes(tmp_path):
    running = StagingFolder()
    killed = tmp_path / f"jaxtribute-staging-{os.getuid()}-killed"
    making = tmp_path / f"jaxtribute-staging-{os.getuid()}-making"
    killed.mkdir()
    making.mkdir()  # has no lock yet
    (killed / "lock").touch()
    lock = os.open(killed / "lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with_lock = StagingFolder()
    assert killed.is_dir()
    os.close(lock)
    del with_lock
    StagingFolder()
    assert not killed.exists()
    assert making.is_dir()
    assert os.path.isdir(running.path)


def test_a_fork_leaves_it_to_its_parent(run_python, tmp_path):
    script = """
import os, sys, tempfile
from spmd.checkpoint.staging import StagingFolder

tempfile.tempdir = sys.argv[1]
folder = StagingFolder()
child = os.fork()
if child == 0:
    sys.exit()
os.waitpid(child, 0)
print(os.path.isdir(folder.path))
"""
    assert run_python("-c", script, tmp_path).stdout.strip() == "True"
    assert list(tmp_path.iterdir()) == []
