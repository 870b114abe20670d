"""Messages of arrays as one block of bytes."""

import numpy as np
import pytest

pytest.importorskip("ray")

from spmd.servers.remote.messages import pack, pack_into, parts_of, unpack
from spmd.servers.store import Change


def test_structures_and_arrays_come_back():
    value = {
        ("w", 0): (3, np.arange(6, dtype=np.float32).reshape(2, 3)),
        "empty": np.zeros((0, 4)),
        "scalar": np.float16(1.5),
        "change": Change(("w", 0), "add", np.ones(2), (np.array([1]),)),
    }
    found = unpack(pack(value))
    assert found.keys() == value.keys()
    version, array = found["w", 0]
    assert version == 3
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["empty"].shape == (0, 4)
    assert found["scalar"] == 1.5
    assert found["change"].index[0].tolist() == [1]


def test_arrays_are_aligned_views():
    message = pack([np.zeros(3, np.int8), np.arange(100.0)])
    array = unpack(message)[1]
    assert not array.flags.owndata
    assert not array.flags.writeable
    assert np.frombuffer(message, np.uint8).ctypes.data % 64 == array.ctypes.data % 64


def test_a_message_may_be_written_into_memory():
    parts, size = parts_of(("push", np.arange(1000)))
    memory = memoryview(bytearray(size + 10))
    pack_into(memory, parts)
    method, array = unpack(memory[:size])
    assert method == "push"
    assert array.sum() == 499500
