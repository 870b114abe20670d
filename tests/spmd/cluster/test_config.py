"""Which tasks make a cluster, which of them train, and what cannot be a cluster."""

import dataclasses
import json

import pytest

from spmd.cluster import Cluster, Task, from_tasks, from_tf_config
from spmd.errors import ClusterConfigError, SpmdError

WORKERS = {"worker": ["a:1", "b:1"]}
ALL = {"chief": ["c:1"], **WORKERS, "ps": ["p:1", "p:2"], "evaluator": ["e:1"]}


def read(jobs, task_type, index):
    return from_tf_config(
        json.dumps({"cluster": jobs, "task": {"type": task_type, "index": index}})
    )


def test_the_chief_comes_first_then_the_workers():
    cluster = read(ALL, "worker", 1)
    assert cluster.processes == (("chief", 0, "c:1"), ("worker", 0, "a:1"), ("worker", 1, "b:1"))
    assert list(map(str, cluster.processes)) == ["chief 0", "worker 0", "worker 1"]
    assert cluster.task == Task("worker", 1, "b:1")


@pytest.mark.parametrize(
    ("jobs", "task_type", "index", "process_id", "is_chief"),
    [
        (WORKERS, "worker", 0, 0, True),
        (WORKERS, "worker", 1, 1, False),
        (ALL, "chief", 0, 0, True),
        (ALL, "worker", 0, 1, False),
        (ALL, "worker", 1, 2, False),
        (ALL, "ps", 0, None, False),
        (ALL, "evaluator", 0, None, True),
        (WORKERS, "evaluator", 0, None, True),  # it need not be listed
        ({"evaluator": ["e:1"]}, "evaluator", 0, None, True),
        ({"chief": ["c:1"]}, "chief", 0, 0, True),
        ({**WORKERS, "ps": []}, "worker", 0, 0, True),
    ],
)
def test_ranks_and_chief(jobs, task_type, index, process_id, is_chief):
    cluster = read(jobs, task_type, index)
    assert (cluster.process_id, cluster.is_chief) == (process_id, is_chief)
    assert cluster.is_evaluator == (task_type == "evaluator")


def test_master_is_the_former_name_of_chief():
    cluster = read({"master": ["m:1"], **WORKERS}, "master", 0)
    assert cluster.jobs == {"chief": ("m:1",), "worker": ("a:1", "b:1")}
    assert str(cluster.task) == "chief 0"
    assert cluster.is_chief


def test_an_evaluator_that_is_not_listed_has_no_address():
    assert read(WORKERS, "evaluator", 0).task == Task("evaluator", 0, None)


def test_no_cluster_is_one_process():
    assert from_tf_config({}) is None
    assert from_tf_config("{}") is None
    assert read({}, "worker", 0) is None  # TensorFlow trains in one process, too
    assert from_tasks({"worker": []}, None, None, "an example") is None


def test_a_cluster_cannot_be_changed():
    cluster = read(WORKERS, "worker", 0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        cluster.task_index = 1
    with pytest.raises(TypeError):
        cluster.jobs["worker"] = ()
    assert cluster == Cluster(WORKERS, "worker", 0)


@pytest.mark.parametrize(
    "addresses",
    [
        ["localhost:1", "127.0.0.1:2", "[::1]:3"],  # all on this machine
        ["localhost:1", "b:1"],  # this task itself
        ["[fe80::1%eth0]:1", "[2001:db8::2]:1"],
        ["host-1.train_job.svc.cluster.local:2222", "10.0.0.2:65535"],
    ],
)
def test_addresses_that_work(addresses):
    assert read({"worker": addresses}, "worker", 0).jobs["worker"] == tuple(addresses)


@pytest.mark.parametrize(
    ("jobs", "task", "key", "says"),
    [
        (WORKERS, (None, 0), "task.type", "does not know which task of the cluster it is"),
        (WORKERS, ("worker", None), "task.index", "does not know which task of the cluster it is"),
        ({}, ("worker", 1), "cluster", "this is worker 1, so there must be other tasks"),
        (
            WORKERS,
            ("worker", 2),
            "task.index",
            'is 2, but "cluster" lists 2 worker(s): indices are 0 to 1',
        ),
        (WORKERS, ("evaluator", 1), "task.index", "is 1"),
        (WORKERS, ("ps", 0), "task.type", 'is "ps", but the cluster has 2 worker'),
        (WORKERS, ("wroker", 0), "task.type", '"type": "worker"'),
        ({"workers": ["a:1"]}, ("worker", 0), "cluster.workers", 'Write "worker"'),
        ({"ps": ["a:1"]}, ("ps", 0), "cluster", "no task that trains, only 1 ps"),
        ({"chief": ["a:1", "b:1"]}, ("chief", 0), "cluster.chief", "at most one chief"),
        (
            {**WORKERS, "evaluator": ["c:1", "d:1"]},
            ("worker", 0),
            "cluster.evaluator",
            "at most one evaluator",
        ),
        (
            {"chief": ["a:1"], "master": ["b:1"]},
            ("chief", 0),
            "cluster.master",
            "former name of chief",
        ),
        ({"worker": {"0": "a:1", "2": "b:1"}}, ("worker", 0), "cluster.worker", "without 1"),
        (
            {"worker": ["a:1", "a:1"]},
            ("worker", 0),
            "cluster.worker[1]",
            "also the address of worker 0",
        ),
        (
            {"chief": ["A:01"], **WORKERS},
            ("chief", 0),
            "cluster.worker[0]",
            "also the address of chief 0",
        ),
        ({"worker": ["a:1", "b"]}, ("worker", 0), "cluster.worker[1]", 'Write "b:2222"'),
        ({"worker": ["a:1", "b:"]}, ("worker", 0), "cluster.worker[1]", 'not "host:port"'),
        ({"worker": ["a:1", ":2"]}, ("worker", 0), "cluster.worker[1]", 'not "host:port"'),
        # As TensorFlow's guide has it.
        ({"worker": ["host1:port"]}, ("worker", 0), "cluster.worker[0]", 'Write "host1:2222"'),
        ({"worker": ["a:1", "b c:1"]}, ("worker", 0), "cluster.worker[1]", 'not "host:port"'),
        (
            {"worker": ["a:1", "::1:2222"]},
            ("worker", 0),
            "cluster.worker[1]",
            "brackets around an IPv6 address",
        ),
        ({"worker": ["a:1", "grpc://b:1"]}, ("worker", 0), "cluster.worker[1]", 'Write "b:1"'),
        ({"worker": ["a:1", "b:0"]}, ("worker", 0), "cluster.worker[1]", "has port 0"),
        ({"worker": ["a:1", "b:65536"]}, ("worker", 0), "cluster.worker[1]", "has port 65536"),
        (
            {"worker": ["localhost:1", "b:1"]},
            ("worker", 1),
            "cluster.worker[0]",
            "cannot be reached there",
        ),
        (
            {"worker": ["a:1", "0.0.0.0:1"]},
            ("worker", 0),
            "cluster.worker[1]",
            "cannot be reached there",
        ),
        (
            {**WORKERS, "ps": ["127.0.0.1:1"]},
            ("worker", 0),
            "cluster.ps[0]",
            "means worker 0's own machine",
        ),
    ],
)
def test_what_cannot_be_a_cluster_is_quoted(jobs, task, key, says):
    parts = {
        name: value
        for name, value in zip(("type", "index"), task, strict=True)
        if value is not None
    }
    with pytest.raises(ClusterConfigError) as error:
        from_tf_config({"TF_CONFIG": json.dumps({"cluster": jobs, "task": parts})})
    assert error.value.key == key
    message = str(error.value)
    assert message.startswith(f'"{key}"')
    assert says in message
    assert "environment variable TF_CONFIG" in message
    assert any(word in message for word in ("Write", "Add")), "the correction"


def test_the_error_is_a_value_error_and_names_its_source():
    with pytest.raises(ValueError, match="in the arguments of Cluster is 5") as error:
        Cluster(WORKERS, "worker", 5)
    assert isinstance(error.value, SpmdError)
    with pytest.raises(ClusterConfigError, match=r"cluster.worker\[0\].* 7, not a string"):
        Cluster({"worker": [7]}, "worker", 0)
    for index in ("0", True, 0.0):
        with pytest.raises(ClusterConfigError, match=r"task.index.*, not an integer"):
            Cluster(WORKERS, "worker", index)
    with pytest.raises(ClusterConfigError, match=r"task.type.* is \[0\], not a string"):
        Cluster(WORKERS, [0], 0)
