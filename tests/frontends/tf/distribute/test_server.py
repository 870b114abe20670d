"""`tf.distribute.Server`: which task it is."""

import json
import sys

import pytest

import spmd.servers.remote  # now: it sets variables of the environment
from frontends import tf
from frontends.tf.distribute.server import server_at, source_of

CLUSTER = {"worker": ["a:1", "b:1"], "ps": ["c:1"]}


def test_a_server_knows_its_task():
    server = tf.distribute.Server(tf.train.ClusterSpec(CLUSTER), job_name="worker", task_index=1)
    assert server.target == "grpc://b:1"
    assert server.server_def == {"cluster": CLUSTER, "job_name": "worker", "task_index": 1}
    assert server_at("b:1") is server


def test_what_is_clear_may_be_left_out():
    assert tf.distribute.Server({"ps": ["x:1"]}).server_def["job_name"] == "ps"
    assert tf.distribute.Server(CLUSTER, job_name="ps").task_index == 0
    assert tf.distribute.Server.create_local_server().target == "grpc://localhost:0"


def test_a_server_that_is_not_started_serves_nobody():
    server = tf.distribute.Server({"ps": ["y:1"]}, start=False)
    assert server_at("y:1") is None
    server.start()
    assert server_at("y:1") is server


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Must specify an explicit job_name"),
        ({"job_name": "worker"}, "Must specify an explicit task_index"),
        ({"job_name": "chief", "task_index": 0}, "No such job"),
        ({"job_name": "ps", "task_index": 4}, "No task with index 4"),
    ],
)
def test_an_unclear_task_is_an_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        tf.distribute.Server(CLUSTER, **arguments)


def test_ray_is_needed_for_other_processes(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    for name in [name for name in sys.modules if name.startswith("spmd.servers.remote")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(spmd.servers, "remote", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "jaxtribute\[ray\]"'):
        tf.distribute.Server(CLUSTER, job_name="ps", task_index=0).join()


def test_addresses_come_from_tf_config_only_if_it_has_them(monkeypatch):
    spec = tf.train.ClusterSpec(CLUSTER)
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert source_of(spec, "a script") == "a script"
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["a:1"]}}))
    assert source_of(spec, "a script") == "a script"
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": CLUSTER}))
    assert source_of(spec, "a script") == "TF_CONFIG"
    monkeypatch.setenv("TF_CONFIG", "{")
    assert source_of(spec, "a script") == "a script"
