"""SlurmClusterResolver: GPUs, and the cluster that training is given. Its results stand in tests/golden."""

import os

import pytest

from frontends import tf
from frontends.tf.distribute.cluster_resolver.base import cluster_of
from spmd.errors import ClusterConfigError


def make(**arguments):
    return tf.distribute.cluster_resolver.SlurmClusterResolver(**arguments)


@pytest.fixture
def step(monkeypatch):
    """Rank 2 of three tasks, two of them on the first node."""
    for name, value in {
        "SLURM_PROCID": "2",
        "SLURM_STEP_NUM_TASKS": "3",
        "SLURM_STEP_NODELIST": "n[9-10]",
        "SLURM_STEP_TASKS_PER_NODE": "2,1",
        "CUDA_VISIBLE_DEVICES": "",
    }.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.fixture
def nvidia_smi(step, tmp_path):
    """A program that says what the test wants."""

    def make(script):
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        step.delenv("CUDA_VISIBLE_DEVICES")
        step.setenv("PATH", f"{tmp_path}:/bin")

    yield make
    step.delenv("CUDA_VISIBLE_DEVICES", raising=False)  # which the resolver sets


def test_training_is_given_the_steps_tasks(step):
    step.setenv("SLURM_PROCID", "1")
    cluster = cluster_of(make())
    assert cluster.jobs == {"worker": ("n9:8888", "n9:8889", "n10:8888")}
    assert cluster.process_id == 1


@pytest.mark.usefixtures("step")
def test_a_chief():
    cluster = cluster_of(make(jobs={"worker": 2, "chief": 1}))
    assert cluster.jobs == {"chief": ("n9:8888",), "worker": ("n9:8889", "n10:8888")}
    assert str(cluster.task) == "worker 1"


def test_gpus_are_counted_and_shared(nvidia_smi):
    nvidia_smi("echo 'GPU 0: H100'; echo 'GPU 1: H100'; echo '  MIG'")
    resolver = make()
    resolver.cluster_spec()
    assert resolver.num_accelerators() == {"GPU": 1}
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0"  # the only task of n10


def test_nvidia_smi_that_fails_says_so(nvidia_smi):
    nvidia_smi("exit 9")
    with pytest.raises(
        RuntimeError, match=r"exit status 9.*SlurmClusterResolver\(gpus_per_node=8\)"
    ):
        make()


def test_without_nvidia_smi_there_are_no_gpus(step, tmp_path):
    step.delenv("CUDA_VISIBLE_DEVICES")
    step.setenv("PATH", str(tmp_path))
    resolver = make()
    resolver.cluster_spec()
    assert resolver.num_accelerators() == {"GPU": 0}
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


def test_outside_of_slurm():
    with pytest.raises(RuntimeError, match=r"SLURM_PROCID is not set.*srun"):
        make()


def test_a_broken_variable(step):
    step.setenv("SLURM_PROCID", "two")
    with pytest.raises(ClusterConfigError, match="SLURM_PROCID must be a number, but it is 'two'"):
        make()


@pytest.mark.usefixtures("step")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"gpus_per_node": 1, "gpus_per_task": 1}, "2 task.s. x 1 GPU.s., but a node has 1"),
        ({"jobs": {"worker": 4}}, "Requested 4 tasks but 3 were assigned.*--ntasks=4"),
        ({"tasks_per_node": {"n9": 1, "n10": 1}, "jobs": {"worker": 2}}, "this is number 2"),
    ],
)
def test_what_does_not_fit(arguments, says):
    with pytest.raises(RuntimeError, match=says):
        make(**arguments)
