"""TPUClusterResolver: addresses, and names with Google's client against a server that gives recorded answers."""

import copy
import json
from pathlib import Path

import googleapiclient.discovery_cache
import pytest
from google.auth.credentials import AnonymousCredentials

from frontends import tf
from frontends.tf.distribute.cluster_resolver import tpu
from frontends.tf.distribute.cluster_resolver.base import cluster_of

DESCRIPTION = Path(googleapiclient.discovery_cache.__file__).parent / "documents" / "tpu.v1.json"
NODE = "/v1/projects/my-project/locations/us-central1-b/nodes/mine"
READY = {
    "name": "projects/my-project/locations/us-central1-b/nodes/mine",
    "acceleratorType": "v3-32",
    "state": "READY",
    "health": "HEALTHY",
    "networkEndpoints": [
        {"ipAddress": "10.0.0.1", "port": 8470},
        {"ipAddress": "10.0.0.2", "port": 8470},
    ],
}


def make(*arguments, **more):
    return tf.distribute.cluster_resolver.TPUClusterResolver(*arguments, **more)


@pytest.fixture
def google(server, monkeypatch):
    """The metadata server of a machine, the service's description of itself, and a TPU."""
    description = json.loads(DESCRIPTION.read_text())
    description |= {"rootUrl": f"{server.url}/", "baseUrl": f"{server.url}/"}
    description.pop("mtlsRootUrl")
    server.answers |= {
        "/computeMetadata/v1/project/project-id": "my-project",
        "/computeMetadata/v1/instance/zone": "projects/123/zones/us-central1-b",
        "/describe": description,
        NODE: READY,
    }
    monkeypatch.setenv("GCE_METADATA_HOST", server.host)
    monkeypatch.setenv("TPU_API_DISCOVERY_URL", f"{server.url}/describe")
    return server


@pytest.mark.usefixtures("google")
def test_a_name_is_looked_up():
    resolver = make("mine", credentials=AnonymousCredentials())
    found = cluster_of(resolver)
    assert found.jobs == {"worker": ("10.0.0.1:8470", "10.0.0.2:8470")}
    assert resolver.master() == "grpc://10.0.0.1:8470"


def test_zone_and_project_that_are_given_are_not_asked_for(google):
    make(
        "mine", zone="us-central1-b", project="my-project", credentials=AnonymousCredentials()
    ).cluster_spec()
    assert [request[1] for request in google.requests] == ["/describe", NODE]


def test_a_machine_that_does_not_know_its_zone(server, monkeypatch):
    monkeypatch.setenv("GCE_METADATA_HOST", server.host)
    with pytest.raises(
        ValueError, match=r"project-id.* cannot be read.*404.* zone=\.\.\., project=\.\.\."
    ):
        make("mine")


def test_a_tpu_that_does_not_exist(google):
    google.answers[NODE] = 404
    with pytest.raises(ValueError, match=r"Could not lookup TPU metadata from name 'mine'.*404"):
        make("mine", credentials=AnonymousCredentials()).cluster_spec()


def test_a_tpu_that_is_not_ready(google):
    google.answers[NODE] = READY | {"state": "CREATING"}
    with pytest.raises(RuntimeError, match='not yet ready; state: "CREATING"'):
        make("mine", credentials=AnonymousCredentials()).cluster_spec()


def test_nothing_says_which_tpu():
    with pytest.raises(ValueError, match=r'TPUClusterResolver\(tpu="local"\)'):
        make("")


@pytest.mark.parametrize("text", ["{", "[]", "3"])
def test_a_malformed_variable(monkeypatch, text):
    monkeypatch.setenv("TPU_CONFIG", text)
    with pytest.raises(
        ValueError, match=r"TPU_CONFIG must be a JSON object, but it is .*tpu_node_name"
    ):
        make()


def test_connecting_needs_a_tpu(monkeypatch):
    monkeypatch.setenv("TPU_NAME", "local")
    connect = tf.distribute.cluster_resolver.TPUClusterResolver.connect
    with pytest.raises(tf.errors.NotFoundError, match=r"TPUs not found.*JAXTRIBUTE_SIMULATE=tpu:8"):
        connect(tpu="")
    with pytest.raises(ValueError, match="TPUs not found"):  # what scripts catch to go on without
        connect(tpu="local")
    assert make("local").num_accelerators() == {"TPU": 0}


@pytest.mark.parametrize("tpu", [None, "", "my-tpu"])
def test_this_machines_tpu_needs_no_name(simulate, tpu):
    simulate("tpu:4")
    resolver = make(tpu)
    assert resolver.cluster_spec().as_dict() == {"worker": ["localhost:8470"]}
    assert resolver.master() == ""
    assert resolver.num_accelerators() == {"TPU": 4}
    assert resolver.tpu_hardware_feature is None
    assert tf.tpu.experimental.initialize_tpu_system(resolver).mesh_shape.tolist() == [1, 2, 1, 2]
    assert resolver.tpu_hardware_feature.num_embedding_devices_per_chip == 0
    found = resolver.get_tpu_system_metadata()
    assert (found.num_cores, found.num_hosts, found.num_of_cores_per_host) == (4, 1, 4)
    assert found.devices[3].name == "/job:localhost/replica:0/task:0/device:TPU:3"
    assert copy.deepcopy(resolver) is resolver


def test_local_and_addresses_are_as_in_tensorflow(simulate):
    simulate("tpu:8")
    assert make("local").cluster_spec().as_dict() == {}
    assert make("local").master() == ""
    assert make("grpc://10.0.0.1").master() == "grpc://10.0.0.1:8470"
    connected = tf.distribute.cluster_resolver.TPUClusterResolver.connect("local")
    assert connected.num_accelerators() == {"TPU": 8}


def test_the_hosts_of_a_pod(monkeypatch):
    monkeypatch.setattr(tpu, "has_tpu", lambda: True)
    monkeypatch.setenv("TPU_WORKER_HOSTNAMES", "10.0.0.1,10.0.0.2")
    assert make("").cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470", "10.0.0.2:8470"]}
    # What libtpu writes there where it cannot find out.
    monkeypatch.setenv("TPU_WORKER_HOSTNAMES", "WARNING: could not determine them, please set")
    assert make("").cluster_spec().as_dict() == {"worker": ["localhost:8470"]}


def test_a_coordinator_needs_an_address():
    with pytest.raises(ValueError, match='coordinator_address="host:port"'):
        make("grpc://10.0.0.1", coordinator_name="coordinator")
