"""Slurm's compressed lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spmd.cluster.environments.slurm_lists import expand_hostlist, expand_tasks_per_node
from spmd.errors import ClusterConfigError


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
