"""TFConfigClusterResolver: what it reads, and when. Its results stand in tests/golden."""

import json

import pytest

from frontends import tf
from frontends.tf.distribute.cluster_resolver.base import cluster_of
from spmd.errors import ClusterConfigError

CONFIG = {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}


def make(**arguments):
    return tf.distribute.cluster_resolver.TFConfigClusterResolver(**arguments)


def test_the_variable_is_read_whenever_it_is_asked_for(monkeypatch):
    resolver = make()
    assert resolver.cluster_spec() == {}
    assert resolver.task_id is None
    monkeypatch.setenv("TF_CONFIG", json.dumps(CONFIG))
    assert resolver.cluster_spec().num_tasks("worker") == 2
    assert (resolver.task_type, resolver.task_id, resolver.master()) == ("worker", 1, "b:1")


def test_an_empty_variable_is_none(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", "")
    assert make().cluster_spec() == {}
    assert make().master() == ""


def test_arguments_come_first(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps(CONFIG))
    cluster = cluster_of(make(task_id=0))
    assert str(cluster.task) == "worker 0"
    assert cluster.is_chief


@pytest.mark.parametrize("text", ["{", "[]", '{"cluster": 1}', '{"task": {"type": "worker"}}'])
def test_every_answer_of_a_malformed_variable_is_a_clear_error(monkeypatch, text):
    monkeypatch.setenv("TF_CONFIG", text)
    for ask in (
        lambda: make().cluster_spec(),
        lambda: make().master(),
        lambda: make().task_type,
        lambda: make().task_id,
        lambda: make().rpc_layer,
        lambda: cluster_of(make()),
    ):
        with pytest.raises(ClusterConfigError, match="environment variable TF_CONFIG"):
            ask()
