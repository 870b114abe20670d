"""The result of a closure that a worker will have run."""

import threading

import pytest

from spmd.servers import RemoteValue
from spmd.servers.remote_value import Late


def test_waits_for_the_result():
    value = RemoteValue()
    assert not value.done()
    with pytest.raises(TimeoutError, match=r"within 0\.01 s"):
        value.get(timeout=0.01)
    threading.Timer(0.05, value.set, [3]).start()
    assert value.get(timeout=10) == 3
    assert value.done()


def test_raises_the_error_that_stands_for_the_result():
    value = RemoteValue()
    value.fail(KeyError("missing"))
    for _ in range(2):
        with pytest.raises(KeyError, match="missing"):
            value.get()


def test_a_late_result_is_made_once_when_it_is_asked_for():
    value, made = RemoteValue(), []
    value.set(Late(lambda: made.append(1) or "made"))
    assert value.done()
    assert not made
    assert [value.get(), value.get()] == ["made", "made"]
    assert made == [1]
