"""GCEClusterResolver, with Google's client, against a server that gives recorded answers."""

import builtins
import json

import pytest
from google.auth.credentials import AnonymousCredentials
from googleapiclient import discovery

from frontends import tf
from frontends.tf.distribute.cluster_resolver.base import cluster_of

GROUP = "/compute/v1/projects/p/zones/z/instanceGroups/g/listInstances"
MACHINES = {"vm-a": "10.0.0.3", "vm-b": "10.0.0.1", "vm-c": "10.0.0.2"}


def listed(*names, **more):
    return {
        "kind": "compute#instanceGroupsListInstances",
        "items": [
            {
                "instance": f"https://www.googleapis.com/compute/v1/projects/p/zones/z/instances/{name}",
                "status": "RUNNING",
            }
            for name in names
        ],
        **more,
    }


@pytest.fixture
def service(server):
    """The real client, with Google's own description of the service, which refuses arguments that do not exist."""
    pages = {None: listed("vm-a", "vm-b", nextPageToken="more"), "more": listed("vm-c")}
    server.answers[GROUP] = lambda query: pages[query.get("pageToken")]
    for name, address in MACHINES.items():
        server.answers[f"/compute/v1/projects/p/zones/z/instances/{name}"] = {
            "kind": "compute#instance",
            "name": name,
            "networkInterfaces": [{"name": "nic0", "networkIP": address}],
        }
    made = discovery.build(
        "compute",
        "v1",
        credentials=AnonymousCredentials(),
        client_options={"api_endpoint": f"{server.url}/compute/v1/"},
    )
    yield made
    made.close()


def make(**arguments):
    return tf.distribute.cluster_resolver.GCEClusterResolver("p", "z", "g", 8470, **arguments)


def test_machines_of_all_pages_make_a_cluster(service, server):
    found = cluster_of(make(service=service, task_id=2))
    assert found.jobs == {"worker": ("10.0.0.1:8470", "10.0.0.2:8470", "10.0.0.3:8470")}
    assert found.process_id == 2
    method, path, query, body = server.requests[0]
    assert (method, path, body) == ("POST", GROUP, {"instanceState": "RUNNING"})
    assert query["orderBy"] == "name"


def test_an_empty_group(service, server):
    server.answers[GROUP] = {"kind": "compute#instanceGroupsListInstances"}
    assert make(service=service).cluster_spec().as_dict() == {"worker": {}}


def test_the_task_type_stays(service):
    with pytest.raises(RuntimeError, match=r"task_type='chief'"):
        make(service=service).task_type = "chief"


def test_the_machines_credentials_are_the_default(tmp_path, monkeypatch):
    account = {
        "type": "authorized_user",
        "client_id": "i",
        "client_secret": "s",
        "refresh_token": "t",
    }
    (tmp_path / "account.json").write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")
    assert make().task_type == "worker"
    assert make(credentials=AnonymousCredentials()).task_id == 0


def test_without_the_client(monkeypatch):
    import_ = builtins.__import__

    def refuse(name, *arguments):
        if name.partition(".")[0] == "googleapiclient":
            raise ImportError(name)
        return import_(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r'pip install "jaxtribute\[gcp\]"'):
        make()
