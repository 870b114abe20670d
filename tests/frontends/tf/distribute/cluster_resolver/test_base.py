"""What resolvers share: accelerators, and the cluster that training is given."""

from types import SimpleNamespace

import jax
import pytest

from frontends import tf
from frontends.tf.distribute.cluster_resolver.base import cluster_of
from spmd.errors import ClusterConfigError

WORKERS = {"chief": ["c:1"], "worker": ["a:1", "b:1"]}


def simple(cluster, **arguments):
    spec = tf.train.ClusterSpec(cluster)
    return tf.distribute.cluster_resolver.SimpleClusterResolver(spec, **arguments)


class Own(tf.distribute.cluster_resolver.ClusterResolver):
    def __init__(self, task_type="worker", task_id=1):
        self._task_type, self._task_id = task_type, task_id

    def cluster_spec(self):
        return tf.train.ClusterSpec(WORKERS)

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        return ""


def test_the_cluster_of_a_resolver():
    for resolver in (Own(), simple(WORKERS, task_type="worker", task_id=1)):
        cluster = cluster_of(resolver)
        assert cluster.process_id == 2
        assert [task.address for task in cluster.processes] == ["c:1", "a:1", "b:1"]


@pytest.mark.parametrize("arguments", [{}, {"task_type": "worker", "task_id": 0}])
def test_no_tasks_are_one_process(arguments):
    assert cluster_of(simple({}, **arguments)) is None
    assert cluster_of(tf.distribute.cluster_resolver.TFConfigClusterResolver()) is None
    assert cluster_of(tf.distribute.cluster_resolver.TPUClusterResolver("local")) is None


@pytest.mark.parametrize(
    ("resolver", "says"),
    [
        (simple(WORKERS), r'"task.type" is not in SimpleClusterResolver.* task_type="worker"'),
        (simple(WORKERS, task_type="worker"), r'"task.index" is not in SimpleClusterResolver'),
        (
            simple(WORKERS, task_type="worker", task_id=2),
            '"task.index" in SimpleClusterResolver is 2',
        ),
        (
            simple({}, task_type="worker", task_id=2),
            '"cluster" in SimpleClusterResolver lists no task',
        ),
        (simple({"worker": {1: "a:1"}}, task_type="worker", task_id=1), "without 0"),
        (simple({"local": ["a:1"]}, task_type="local", task_id=0), "is not a role"),
        (Own(task_id=5), '"task.index" in Own is 5'),
    ],
)
def test_what_makes_no_cluster_names_the_resolver(resolver, says):
    with pytest.raises(ClusterConfigError, match=says):
        cluster_of(resolver)


def devices(*processes):
    return [
        SimpleNamespace(platform=platform, process_index=process)
        for process in processes
        for platform in ("gpu", "gpu", "cpu")
    ]


def test_accelerators_of_this_process(monkeypatch):
    assert Own().num_accelerators() == {}  # only CPUs here
    monkeypatch.setattr(jax, "local_devices", lambda **_: devices(2))
    for task in ((), ("worker", 1), ("worker",)):
        assert Own().num_accelerators(*task) == {"GPU": 2}


def test_accelerators_of_another_task(monkeypatch):
    monkeypatch.setattr(jax, "devices", lambda *_: devices(0, 1, 1, 2))
    assert Own().num_accelerators("worker", 0) == {}  # not joined: these are not its devices
    monkeypatch.setattr(jax, "process_count", lambda: 3)
    assert Own().num_accelerators("worker", 0) == {"GPU": 4}
    assert Own().num_accelerators("chief", 0) == {"GPU": 2}
    assert Own().num_accelerators("ps", 0) == {}


def test_a_class_of_ones_own_has_to_say_what_the_cluster_is():
    class Nothing(tf.distribute.cluster_resolver.ClusterResolver):
        pass

    with pytest.raises(TypeError, match="cluster_spec"):
        Nothing()
