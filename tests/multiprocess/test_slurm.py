"""A Slurm step without TF_CONFIG: processes with Slurm's variables find each other through JAX's own detection."""

import json
import socket
import subprocess

import pytest

SCRIPT = """
import json, os
import jax
import spmd.cluster

jax.config.update("jax_cpu_collectives_implementation", "gloo")
cluster = spmd.cluster.from_slurm(os.environ)
method = spmd.cluster.jax_detection_method(os.environ)
jax.distributed.initialize(cluster_detection_method=method, initialization_timeout=120)
from jax.experimental.multihost_utils import process_allgather
ranks = process_allgather(jax.numpy.asarray(jax.process_index()))
print(json.dumps({
    "ranks": ranks.tolist(),
    "jax": [jax.process_index(), jax.process_count()],
    "cluster": [cluster.process_id, len(cluster.processes)],
}))
jax.distributed.shutdown()
"""


def free_job():
    # JAX makes the port of the job's number.
    for job in range(4096):
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", 61440 + job))
            except OSError:
                continue
            return job
    raise AssertionError("no port from 61440 to 65535 is free")


@pytest.mark.multiprocess
def test_jax_finds_the_tasks_of_a_step(fresh_environment, start_python):
    step = {
        "SLURM_JOB_ID": str(free_job()),
        "SLURM_STEP_NODELIST": "localhost",
        "SLURM_STEP_TASKS_PER_NODE": "2",
        "SLURM_STEP_NUM_TASKS": "2",
        "SLURM_NTASKS": "2",
    }
    started = [
        start_python(
            ["-c", SCRIPT],
            fresh_environment | step | {"SLURM_PROCID": rank, "SLURM_LOCALID": rank},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in ("0", "1")
    ]
    try:
        outputs = [process.communicate(timeout=300) for process in started]
    finally:
        for process in started:
            process.kill()
            process.communicate()
    for rank, (process, (output, errors)) in enumerate(zip(started, outputs, strict=True)):
        assert process.returncode == 0, errors
        assert json.loads(output.splitlines()[-1]) == {
            "ranks": [0, 1],
            "jax": [rank, 2],
            "cluster": [rank, 2],
        }
