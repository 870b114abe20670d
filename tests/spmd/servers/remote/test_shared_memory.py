"""Memory that two processes of one machine share."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("ray")

from spmd.servers.remote import shared_memory
from spmd.servers.remote.shared_memory import SharedMemory

CHILD = """
import sys
from spmd.servers.remote.shared_memory import SharedMemory
SharedMemory(int(sys.argv[1])).view[:5] = b"hello"
"""


def test_another_process_writes_into_it():
    memory = SharedMemory.create(1000)
    subprocess.run(
        [sys.executable, "-c", CHILD, str(memory.file)],
        check=True,
        pass_fds=[memory.file],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert len(memory.view) == 1000
    assert bytes(memory.view[:5]) == b"hello"


def test_memory_that_there_is_not_is_not_taken(monkeypatch):
    def fail(*arguments):
        raise OSError

    files = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, "posix_fallocate", fail)
    assert SharedMemory.create(100) is None
    assert len(os.listdir("/proc/self/fd")) == files
    monkeypatch.setattr(shared_memory, "_CREATE", fail)
    assert SharedMemory.create(100) is None
    monkeypatch.setattr(shared_memory, "_CREATE", None)
    assert SharedMemory.create(100) is None


def test_its_file_is_closed_with_it():
    files = len(os.listdir("/proc/self/fd"))
    memory = SharedMemory.create(100)
    view = memory.view
    del memory
    view[:2] = b"ab"
    assert bytes(view[:3]) == b"ab\0"
    del view
    assert len(os.listdir("/proc/self/fd")) == files
