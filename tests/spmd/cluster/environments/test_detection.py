"""Where jax.distributed needs no arguments; compared with what JAX itself says."""

import pytest

from spmd.cluster import from_slurm, jax_detection_method

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
    assert jax_detection_method({"TPU_WORKER_HOSTNAMES": "a,b"}) is None  # no TPU library


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


def test_without_libtpu_it_is_no_tpu():
    assert jax_detection_method({"TPU_WORKER_HOSTNAMES": "a,b"}) is None
