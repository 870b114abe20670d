"""Calls on several threads: results in order, errors passed on, threads ended."""

import threading

import pytest

from frontends.tf.data import AUTOTUNE, parallel


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_order(workers):
    assert list(parallel.map_in_order(lambda x: x * x, range(20), workers)) == [
        x * x for x in range(20)
    ]


def test_reads_a_few_items_ahead():
    pulled = []

    def items():
        for i in range(100):
            pulled.append(i)
            yield i

    read = parallel.map_in_order(lambda x: x, items(), workers=3)
    next(read)
    assert len(pulled) == 4
    read.close()  # pyright: ignore[reportAttributeAccessIssue]


def workers():
    return [one for one in threading.enumerate() if one.name.startswith("tf-data-map")]


def test_the_first_error_in_order_surfaces_and_the_threads_end():
    with pytest.raises(ZeroDivisionError):
        list(parallel.map_in_order(lambda x: 1 // (x - 5), range(20), workers=3))
    assert not workers()


def test_worker_count(monkeypatch):
    assert [parallel.worker_count(n) for n in (None, 1, 5)] == [0, 0, 5]
    monkeypatch.setattr(parallel.os, "sched_getaffinity", lambda pid: {0, 1, 2}, raising=False)
    assert parallel.worker_count(AUTOTUNE) == 3
    monkeypatch.setattr(parallel.os, "sched_getaffinity", lambda pid: {0}, raising=False)
    assert parallel.worker_count(AUTOTUNE) == 0
    with pytest.raises(ValueError, match="at least 1, got -5"):
        parallel.worker_count(-5)
