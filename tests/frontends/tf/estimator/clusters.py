"""Clusters with parameter servers for tests of estimators: their other tasks are in this process."""

import itertools
import json
from collections.abc import Callable

import pytest

from frontends import tf

_PORTS = itertools.count(30000)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has TF_CONFIG say that this process is a task of a cluster, whose servers are here too."""

    def make(task: str = "worker", **jobs: int) -> None:
        spec = tf.train.ClusterSpec(
            {job: [f"localhost:{next(_PORTS)}" for _ in range(n)] for job, n in jobs.items()}
        )
        for job, count in jobs.items():
            for index in range(count):
                if (job, index) != (task, 0):
                    tf.distribute.Server(spec, job, index)
        monkeypatch.setenv(
            "TF_CONFIG", json.dumps({"cluster": spec.as_dict(), "task": {"type": task, "index": 0}})
        )

    return make
