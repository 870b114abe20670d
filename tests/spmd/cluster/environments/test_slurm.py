"""The cluster of a Slurm step."""

import pytest

from spmd.cluster import from_slurm
from spmd.errors import ClusterConfigError

STEP = {
    "SLURM_JOB_ID": "4100",
    "SLURM_PROCID": "3",
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_STEP_NODELIST": "node[9-10],login",
    "SLURM_STEP_TASKS_PER_NODE": "2,1(x2)",
}


def test_the_cluster_of_a_step():
    cluster = from_slurm(STEP)
    # Ranks count along Slurm's list, in which node9 comes first.
    assert cluster.jobs == {"worker": ("node9:61444", "node9:61445", "node10:61444", "login:61444")}
    assert (str(cluster.task), cluster.process_id) == ("worker 3", 3)


def test_ports_stay_ports():
    cluster = from_slurm(STEP | {"SLURM_JOB_ID": "4095"})
    assert cluster.jobs["worker"][:2] == ("node9:65535", "node9:61440")


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"SLURM_JOB_ID": "1"},
        {name: value for name, value in STEP.items() if name != "SLURM_PROCID"},
        STEP | {"SLURM_STEP_NUM_TASKS": "1"},  # a shell inside of an allocation
    ],
)
def test_no_step_of_several_tasks(environment):
    assert from_slurm(environment) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SLURM_JOB_ID", None),
        ("SLURM_STEP_NUM_TASKS", "four"),
        ("SLURM_PROCID", "-1"),
        ("SLURM_STEP_TASKS_PER_NODE", "2(x2)"),
        ("SLURM_STEP_TASKS_PER_NODE", None),
    ],
)
def test_a_broken_step_names_the_variable(name, value):
    environment = {**STEP, name: value}
    with pytest.raises(ClusterConfigError, match=name):
        from_slurm({key: text for key, text in environment.items() if text is not None})


def test_a_rank_outside_of_the_step():
    with pytest.raises(
        ClusterConfigError, match=r"task.index.* in the environment variables of Slurm is 4"
    ):
        from_slurm(STEP | {"SLURM_PROCID": "4"})
