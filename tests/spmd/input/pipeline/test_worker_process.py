"""A process that calls functions for another one; here on a thread."""

import pickle
import socket
import threading

import jax.numpy as jnp
import numpy as np
import pytest

from spmd.input.pipeline.map_function import MapFunction, Sending
from spmd.input.pipeline.messages import EndedError, receive, send
from spmd.input.pipeline.worker_process import serve

DRAWN = []


def add(x):
    return x + np.asarray([1], np.int32)[0] if x >= 0 else 1 / 0


def nothing_to_send(x):
    return np.array([threading.Lock()], object)


def made(function=add):
    return MapFunction(function, None, Sending(lambda: b"", lambda: True, int, DRAWN.append))


def made_other():
    return made(nothing_to_send)


@pytest.fixture
def served():
    ours, theirs = socket.socketpair()

    def run():
        with theirs, pytest.raises(EndedError):
            serve(theirs)

    thread = threading.Thread(target=run)
    thread.start()
    with ours:
        assert receive(ours) == "ready"
        yield ours
    thread.join()


def asked(served, new, number, kind, given, full=1, x64=False, forgets=False):
    send(served, (forgets, new, [number], ["draw"], kind, given, full, x64))
    return receive(served)


def test_a_function_is_sent_once_and_called_often(served):
    DRAWN.clear()
    new = {7: pickle.dumps(made)}
    has_result, batch = asked(served, new, 7, "many", [np.int32(1), np.int32(2)], 2)
    assert has_result
    assert (batch.tolist(), batch.dtype) == ([2, 3], np.int32)
    assert asked(served, {}, 7, "one", np.int32(5)) == (True, 6)
    assert DRAWN == ["draw", "draw"]


def test_what_goes_wrong_is_told_and_the_next_call_works(served):
    new = {7: pickle.dumps(made), 8: pickle.dumps(made_other)}
    has_result, text = asked(served, new, 7, "one", np.int32(-1))
    assert not has_result
    assert "ZeroDivisionError" in text
    has_result, text = asked(served, {}, 8, "one", np.int32(1))
    assert not has_result
    assert "pickle" in text
    assert asked(served, {}, 7, "one", np.int32(5)) == (True, 6)


def test_functions_are_forgotten(served):
    new = {7: pickle.dumps(made)}
    assert asked(served, new, 7, "one", np.int32(5)) == (True, 6)
    has_result, text = asked(served, {}, 7, "one", np.int32(5), forgets=True)
    assert not has_result
    assert "KeyError" in text


def test_numbers_are_as_wide_as_at_the_other_end(served):
    new = {7: pickle.dumps(made)}
    _, narrow = asked(served, new, 7, "one", np.int64(5))
    _, wide = asked(served, {}, 7, "one", np.int64(5), x64=True)
    assert (narrow.dtype, wide.dtype) == (jnp.int32, jnp.int64)
