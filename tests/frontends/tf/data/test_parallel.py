"""What `num_parallel_calls` asks for."""

import pytest

from frontends.tf.data import AUTOTUNE, parallel


def test_worker_count(monkeypatch):
    assert [parallel.worker_count(n) for n in (None, 1, 5)] == [0, 0, 5]
    monkeypatch.setattr(parallel.os, "sched_getaffinity", lambda pid: {0, 1, 2}, raising=False)
    assert parallel.worker_count(AUTOTUNE) == 3
    monkeypatch.setattr(parallel.os, "sched_getaffinity", lambda pid: {0}, raising=False)
    assert parallel.worker_count(AUTOTUNE) == 0
    with pytest.raises(ValueError, match="at least 1, got -5"):
        parallel.worker_count(-5)
