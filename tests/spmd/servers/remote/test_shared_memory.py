"""Memory that two processes of one machine share."""

import os
import stat
import subprocess
import sys

import pytest

pytest.importorskip("ray")

from spmd.servers.remote import shared_memory
from spmd.servers.remote.shared_memory import SharedMemory

CHILD = """
import sys
from spmd.servers.remote.shared_memory import SharedMemory
memory = SharedMemory.open(sys.argv[1], bytes.fromhex(sys.argv[2]))
memory.view[:5] = b"hello"
"""


def test_another_process_writes_into_it():
    memory = SharedMemory.create(1000)
    assert stat.S_IMODE(os.stat(memory.path).st_mode) == 0o600
    subprocess.run(
        [sys.executable, "-c", CHILD, str(memory.path), memory.mark.hex()],
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    memory.unlink()
    assert bytes(memory.view[:5]) == b"hello"
    assert not memory.path.exists()
    memory.unlink()


def test_memory_of_another_mark_or_machine_is_not_there(tmp_path):
    memory = SharedMemory.create(100)
    assert SharedMemory.open(str(memory.path), b"x" * len(memory.mark)) is None
    memory.unlink()
    assert SharedMemory.open(str(memory.path), memory.mark) is None


def test_memory_that_there_is_not_is_not_taken(tmp_path, monkeypatch):
    assert SharedMemory.create(1 << 60) is None
    monkeypatch.setattr(shared_memory, "_FOLDER", tmp_path / "missing")
    assert SharedMemory.create(100) is None
