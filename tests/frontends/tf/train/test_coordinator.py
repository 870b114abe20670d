"""Threads that end together."""

import re
import threading

import pytest

from frontends import tf


def started(function):
    thread = threading.Thread(target=function)
    thread.start()
    return thread


def test_threads_stop_together():
    coordinator, ended = tf.train.Coordinator(), []

    def wait():
        assert coordinator.wait_for_stop(20)
        ended.append(1)

    registered = started(wait)
    coordinator.register_thread(registered)
    threads = [started(wait), started(coordinator.request_stop)]
    coordinator.join(threads)
    assert ended == [1, 1]
    assert coordinator.joined
    assert coordinator.should_stop()
    coordinator.clear_stop()
    assert not coordinator.should_stop()
    assert not coordinator.wait_for_stop(0.001)
    assert not coordinator.joined
    assert tf.compat.v1.train.Coordinator is tf.train.Coordinator


def test_the_first_error_is_raised():
    coordinator = tf.train.Coordinator()

    def fail():
        with coordinator.stop_on_exception():
            raise KeyError("first")

    thread = started(fail)
    thread.join()
    coordinator.request_stop(ValueError("second"))
    with pytest.raises(KeyError, match="first"):
        coordinator.join([thread])
    with pytest.raises(KeyError, match="first"):
        coordinator.raise_requested_exception()
    with pytest.raises(ValueError, match="third"):
        coordinator.request_stop(ValueError("third"))


@pytest.mark.parametrize("clean", [None, (StopIteration,)])
def test_an_end_is_no_error(clean):
    coordinator, elements = tf.train.Coordinator(clean), iter(tf.data.Dataset.range(0))
    with coordinator.stop_on_exception():
        next(elements) if clean else elements.get_next()
    coordinator.join([])
    assert coordinator.should_stop()


def test_a_thread_that_lives_on():
    coordinator, event = tf.train.Coordinator(), threading.Event()
    thread = started(event.wait)
    coordinator.request_stop()
    with pytest.raises(RuntimeError, match=f"still running: {re.escape(thread.name)}"):
        coordinator.join([thread], stop_grace_period_secs=0.01)
    coordinator.join([thread], stop_grace_period_secs=0.01, ignore_live_threads=True)
    event.set()
    thread.join()
