"""Connecting to clusters: joining them, or becoming their client."""

import pytest

from frontends import tf
from frontends.tf.distribute import connection, joining

connect = tf.config.experimental_connect_to_cluster


@pytest.fixture
def joined(monkeypatch):
    """The clusters that were joined."""
    found = []
    monkeypatch.setattr(joining, "join", found.append)
    return found


def test_a_tpu_of_one_host_has_nothing_to_join(simulate, joined):
    simulate("tpu:2")
    connect(tf.distribute.cluster_resolver.TPUClusterResolver(""))
    tf.config.experimental_connect_to_host("grpc://10.0.0.1:8470")
    tf.config.experimental_connect_to_host(
        tf.distribute.cluster_resolver.TPUClusterResolver("my-tpu").master()
    )
    assert joined == []


def test_tasks_of_a_spec(joined):
    spec = tf.train.ClusterSpec({"worker": ["a:1", "b:1"]})
    connect(spec, job_name="worker", task_index=1)
    (cluster,) = joined
    assert cluster.process_id == 1
    assert cluster.jobs == {"worker": ("a:1", "b:1")}


def test_tasks_of_a_resolver(joined):
    spec = tf.train.ClusterSpec({"worker": ["a:1", "b:1"], "evaluator": ["c:1"]})
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver
    connect(resolver(spec, task_type="worker", task_id=0))
    assert [cluster.process_id for cluster in joined] == [0]
    connect(resolver(spec, task_type="evaluator", task_id=0))
    assert len(joined) == 1  # it trains nothing


@pytest.fixture
def connected(monkeypatch):
    """The clusters that were connected to from outside."""
    found = []
    monkeypatch.setattr(connection, "connect", found.append)
    return found


def test_a_program_outside_of_the_cluster_is_its_client(joined, connected):
    spec = tf.train.ClusterSpec({"worker": ["a:1", "b:1"], "ps": ["c:1"]})
    connect(spec)
    connect(tf.distribute.cluster_resolver.SimpleClusterResolver(spec))
    assert connected == [spec, spec]
    assert joined == []


def test_no_cluster_has_nothing_to_connect_to(joined, connected):
    connect(tf.distribute.cluster_resolver.TFConfigClusterResolver())
    assert joined == []
    assert connected == []


def test_what_is_refused(joined):
    with pytest.raises(
        ValueError, match=r"'localhost' 0, which is not in the cluster of ps.*needs workers"
    ):
        connect(tf.train.ClusterSpec({"ps": ["a:1"]}))
    with pytest.raises(
        ValueError, match="must be a `ClusterSpec` or a `ClusterResolver`, but is str"
    ):
        connect("grpc://a:1")
    with pytest.raises(ValueError, match="at least one remote_host"):
        tf.config.experimental_connect_to_host()
    with pytest.raises(ValueError, match=r"Cannot connect to 'a:1'.*SIMULATE=tpu:8"):
        tf.config.experimental_connect_to_host("a:1")
