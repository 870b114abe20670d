"""KubernetesClusterResolver, with the official client, against an API server that gives recorded answers."""

import builtins
import json

import pytest

from frontends import tf
from frontends.tf.distribute.cluster_resolver.base import cluster_of

module = tf.distribute.cluster_resolver
OFF_CLUSTER = module.KubernetesExecutableLocation.OFF_CLUSTER


def pod(name, host, phase="Running"):
    """A pod as the API server describes it, less what nobody reads."""
    return {
        "metadata": {
            "name": name,
            "namespace": "train",
            "uid": f"uid-of-{name}",
            "labels": {"job-name": name.rpartition("-")[0]},
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {
            "hostNetwork": True,
            "containers": [
                {"name": "train", "image": "train:1", "ports": [{"containerPort": 8470}]}
            ],
        },
        "status": {
            "phase": phase,
            "hostIP": host,
            "podIP": host,
            "startTime": "2026-01-01T00:00:01Z",
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pods(*items):
    return {
        "kind": "PodList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "7"},
        "items": list(items),
    }


@pytest.fixture
def cluster(server, tmp_path, monkeypatch):
    """A kube config that leads to the server, whose pods are found by selector."""
    found = {
        "job-name=a": pods(pod("a-1", "10.0.0.2"), pod("a-0", "10.0.0.1")),
        "job-name=tensorflow": pods(pod("tensorflow-0", "10.0.0.3")),
        "job-name=waits": pods(pod("waits-0", "10.0.0.4", "Pending")),
    }
    server.answers["/api/v1/pods"] = lambda query: found.get(query["labelSelector"], pods())
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        "users": [{"name": "u", "user": {"token": "secret"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(json.dumps(config))
    monkeypatch.setenv("HOME", str(tmp_path))
    return server


def make(*arguments, **more):
    return module.KubernetesClusterResolver(*arguments, executable_location=OFF_CLUSTER, **more)


@pytest.mark.usefixtures("cluster")
def test_pods_make_a_cluster():
    resolver = make({"chief": ["job-name=tensorflow"], "worker": ["job-name=a"]}, 2222)
    resolver.task_type, resolver.task_id = "worker", 1
    found = cluster_of(resolver)
    assert found.jobs == {"chief": ("10.0.0.3:2222",), "worker": ("10.0.0.1:2222", "10.0.0.2:2222")}
    assert found.process_id == 2
    assert resolver.master() == "grpc://10.0.0.2:2222"


def test_the_server_is_asked_each_time(cluster):
    resolver = make()
    assert resolver.cluster_spec() == {"worker": {0: "10.0.0.3:8470"}}
    cluster.answers["/api/v1/pods"] = pods()
    assert resolver.cluster_spec().as_dict() == {"worker": {}}
    assert [request[:3] for request in cluster.requests] == [
        ("GET", "/api/v1/pods", {"labelSelector": "job-name=tensorflow"})
    ] * 2


@pytest.mark.usefixtures("cluster")
def test_a_pod_that_waits_is_named():
    with pytest.raises(RuntimeError, match='Pod "waits-0" is not running; phase: "Pending"'):
        make({"worker": ["job-name=waits"]}).cluster_spec()


def test_a_server_that_refuses(cluster):
    from kubernetes.client import ApiException

    cluster.answers["/api/v1/pods"] = 403
    with pytest.raises(ApiException, match="403"):
        make().cluster_spec()


def test_within_a_cluster_the_pods_own_account_signs_in():
    from kubernetes.config import ConfigException

    with pytest.raises(ConfigException, match="Service host/port is not set"):
        module.KubernetesClusterResolver()


def test_a_place_that_does_not_exist():
    with pytest.raises(ValueError, match="executable location provided is invalid: 'here'"):
        module.KubernetesClusterResolver(executable_location="here")


def test_without_the_client(monkeypatch):
    import_ = builtins.__import__

    def refuse(name, *arguments):
        if name.partition(".")[0] == "kubernetes":
            raise ImportError(name)
        return import_(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r'pip install "jaxtribute\[kubernetes\]"'):
        make()
