"""The cluster of a Slurm step, and Slurm's compressed lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spmd.cluster import from_slurm
from spmd.cluster.environments.slurm import expand_hostlist, expand_tasks_per_node
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


# The first ones are those of TensorFlow's slurm_cluster_resolver_test.py.
@pytest.mark.parametrize(
    ("hostlist", "hosts"),
    [
        ("n1", ["n1"]),
        ("[1-5]", ["1", "2", "3", "4", "5"]),
        ("n[1-2],m5,o[3-4,6,7-9]", ["n1", "n2", "m5", "o3", "o4", "o6", "o7", "o8", "o9"]),
        ("n[0001-0003],m5,n[12-13]", ["n0001", "n0002", "n0003", "m5", "n12", "n13"]),
        ("n[099-101]", ["n099", "n100", "n101"]),
        ("n2,n1,n2", ["n2", "n1", "n2"]),
        ("node[1-2,7]", ["node1", "node2", "node7"]),
        ("r[1-2]n[1,3]", ["r1n1", "r1n3", "r2n1", "r2n3"]),
        ("n[1-2]-ib", ["n1-ib", "n2-ib"]),
    ],
)
def test_hosts(hostlist, hosts):
    assert expand_hostlist(hostlist) == hosts


@pytest.mark.parametrize(
    "hostlist",
    [
        "",
        ",",
        "n1,,n2",
        "n[1-2",
        "n1]",
        "n[]",
        "n[2-1]",
        "n[1-2-3]",
        "n[a-b]",
        "n[[1]]",
        "n[1-999999999]",
        "n[1-1000]m[1-1000]",
        "n 1",
        "n[1-99999],m[1-99999]",
    ],
)
def test_no_list_of_hosts(hostlist):
    with pytest.raises(ClusterConfigError, match=r"must look like node\[1-2,7\]"):
        expand_hostlist(hostlist)


@pytest.mark.parametrize(
    ("text", "tasks"), [("2", [2]), ("3(x2),2,1", [3, 3, 2, 1]), ("10(x1),0", [10, 0])]
)
def test_tasks_per_node(text, tasks):
    assert expand_tasks_per_node(text) == tasks


@pytest.mark.parametrize("text", ["", "x", "1,", "2(3)", "2(x)", "-1", "1(x999999)", "999999"])
def test_no_list_of_tasks(text):
    with pytest.raises(ClusterConfigError, match=r"must look like 3\(x2\),2"):
        expand_tasks_per_node(text)


@given(st.text(alphabet="an[]-,0129 (x)", max_size=20) | st.text())
def test_no_input_gives_another_error(text):
    for expand in (expand_hostlist, expand_tasks_per_node):
        try:
            assert expand(text)
        except ClusterConfigError as error:
            assert "must look like" in str(error)  # noqa: PT017
