"""Messages between processes: what arrives is what was sent."""

import os
import socket

import numpy as np
import pytest

from spmd.input.pipeline import messages
from spmd.input.pipeline.messages import EndedError, receive, send


@pytest.fixture
def ends():
    first, second = socket.socketpair()
    with first, second:
        yield first, second


def arrived(ends, value):
    send(ends[0], value)
    return receive(ends[1])


def test_elements_arrive(ends):
    element = {"x": (np.int32(3), b"a\0"), "y": np.array([b"a", None], object)}
    found = arrived(ends, element)
    assert found["x"] == (3, b"a\0")
    assert found["x"][0].dtype == np.int32
    assert found["y"].tolist() == [b"a", None]


def test_large_arrays_arrive_in_memory_of_their_own_where_jax_need_not_copy_them(ends):
    arrays = [np.arange(20_001, dtype=np.uint8), np.arange(9_999.0), np.ones((70, 70), order="F")]
    for sent, found in zip(arrays, arrived(ends, arrays), strict=True):
        np.testing.assert_array_equal(found, sent)
        assert (found.dtype, found.flags.f_contiguous) == (sent.dtype, sent.flags.f_contiguous)
        assert found.flags.writeable
        assert found.ctypes.data % 64 == 0
        found += 1
        assert (found != sent).all()


def test_what_was_sent_may_be_overwritten(ends):
    array = np.zeros(10_000)
    send(ends[0], array)
    array += 1
    assert not receive(ends[1]).any()


def test_the_end(ends):
    ends[0].close()
    with pytest.raises(EndedError):
        receive(ends[1])
    with pytest.raises(EndedError):
        send(ends[1], np.zeros(10_000))


def test_nothing_is_sent_of_what_cannot_be_pickled(ends):
    with pytest.raises((AttributeError, TypeError), match="pickle"):
        send(ends[0], lambda x: x)
    assert arrived(ends, 3) == 3


def test_memory_that_this_process_has_no_room_for_is_an_error_and_the_next_value_arrives(
    ends, monkeypatch
):
    original = socket.recv_fds

    def recv_fds(*args):
        found = original(*args)
        for descriptor in found[1]:
            os.close(descriptor)
        return found[0], [], *found[2:]

    send(ends[0], np.zeros(10_000))
    send(ends[0], 3)
    with monkeypatch.context() as patch:
        patch.setattr(socket, "recv_fds", recv_fds)
        with pytest.raises(OSError, match="Too many open files"):
            receive(ends[1])
    assert receive(ends[1]) == 3


def test_memory_whose_value_does_not_arrive_is_closed(ends):
    before = len(os.listdir("/proc/self/fd"))
    reading, writing = os.pipe()
    socket.send_fds(ends[0], [messages._HEADER.pack(0, 100, 8)], [reading])
    os.close(reading)
    os.close(writing)
    ends[0].shutdown(socket.SHUT_WR)
    with pytest.raises(EndedError):
        receive(ends[1])
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_end_in_the_middle_of_a_message(ends):
    ends[0].sendall(messages._HEADER.pack(0, 100, 0) + b"half")
    ends[0].close()
    with pytest.raises(EndedError):
        receive(ends[1])
