"""Where jax.distributed needs no arguments; compared with what JAX itself says."""

import http.server
import importlib.util
import threading

import pytest

from spmd.cluster import from_slurm, gce_tpu_hosts, jax_detection_method

SLURM = {
    "SLURM_JOB_ID": "7",
    "SLURM_STEP_NODELIST": "node[1-2]",
    "SLURM_STEP_TASKS_PER_NODE": "2(x2)",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_NTASKS": "4",
    "SLURM_PROCID": "2",
    "SLURM_LOCALID": "0",
}


def test_nothing_is_detected():
    assert jax_detection_method({}) is None


def test_a_slurm_step_is_detected():
    assert jax_detection_method(SLURM) == "slurm"


@pytest.mark.parametrize("name", ["SLURM_LOCALID", "SLURM_NTASKS"])
def test_a_part_of_slurms_variables_is_not_enough(name):
    assert jax_detection_method({k: v for k, v in SLURM.items() if k != name}) is None


def test_a_slurm_step_of_one_task_is_one_process():
    alone = {"SLURM_STEP_NUM_TASKS": "1", "SLURM_STEP_TASKS_PER_NODE": "1", "SLURM_PROCID": "0"}
    assert jax_detection_method({**SLURM, **alone}) is None


@pytest.mark.usefixtures("libtpu")
def test_several_tpu_hosts_are_detected():
    assert jax_detection_method({"TPU_WORKER_HOSTNAMES": "a,b"}) == "gketpu"
    assert jax_detection_method({"TPU_WORKER_HOSTNAMES": "localhost"}) is None


def test_jax_finds_the_same(run_python):
    """What JAX's own detection makes of the variables is what the cluster says."""
    code = """
import jax
from jax._src.clusters import ClusterEnv
print(ClusterEnv.auto_detect_unset_distributed_params(None, None, None, None, "slurm", 60)[:3])
"""
    done = run_python("-c", code, environment=SLURM)
    cluster = from_slurm(SLURM)
    expected = (cluster.processes[0].address, len(cluster.processes), cluster.process_id)
    assert done.stdout.strip() == str(expected)


@pytest.mark.parametrize(
    ("environment", "several"),
    [
        ({"TPU_WORKER_HOSTNAMES": "a,b"}, True),
        ({"TPU_PROCESS_ADDRESSES": "a:8476,b:8476"}, True),
        ({"TPU_WORKER_HOSTNAMES": "a", "MEGASCALE_NUM_SLICES": "2"}, True),
        ({"TPU_WORKER_HOSTNAMES": "localhost"}, False),
        ({"MEGASCALE_NUM_SLICES": "2"}, False),
    ],
)
@pytest.mark.usefixtures("libtpu")
def test_hosts_and_slices(environment, several):
    assert (jax_detection_method(environment) == "gketpu") == several


def test_without_libtpu_it_is_no_tpu(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert jax_detection_method({"TPU_WORKER_HOSTNAMES": "a,b"}) is None


@pytest.fixture
def metadata():
    """Google's metadata server, which gives what the test sets; None is an error."""
    answers = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            found = answers.get(self.path.removeprefix("/computeMetadata/v1/instance/attributes/"))
            self.send_response(404 if found is None or not self.headers["Metadata-Flavor"] else 200)
            self.end_headers()
            self.wfile.write((found or "").encode())

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        answers["address"] = f"127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield answers
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("endpoints", "hosts"),
    [(None, 1), ("10.0.0.1", 1), ("10.0.0.1,10.0.0.2", 2), ("a:0:10.0.0.1,b:1:10.0.0.2", 2)],
)
def test_hosts_of_a_tpu_on_compute_engine(metadata, monkeypatch, endpoints, hosts):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    metadata["worker-network-endpoints"] = endpoints
    assert gce_tpu_hosts({"GCE_METADATA_IP": metadata["address"]}) == hosts


def test_machines_that_are_not_googles(metadata):
    assert gce_tpu_hosts({"GCE_METADATA_IP": "127.0.0.1:1"}) == 1
    metadata["worker-network-endpoints"] = "a,b"
    skipped = {"GCE_METADATA_IP": metadata["address"], "TPU_SKIP_MDS_QUERY": "1"}
    assert gce_tpu_hosts(skipped) == 1
