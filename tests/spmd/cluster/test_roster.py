"""Who is in a cluster."""

import pytest

from spmd.cluster.roster import Roster


def test_names_are_workers_unless_given():
    assert Roster(["a:1", "b:2"], 1).me == "worker 1"
    roster = Roster(["a:1", "b:2"], 1, ["chief 0", "worker 0"])
    assert (roster.me, roster.listed([1, 0])) == ("worker 0", "chief 0 (a:1), worker 0 (b:2)")


@pytest.mark.parametrize(
    ("addresses", "process", "names", "message"),
    [
        (["a:1"], 1, (), "0 to 0"),
        (["a:1"], -1, (), "0 to 0"),
        (["a:1", "b"], 0, (), "'b'"),
        (["a:1", "b:1"], 0, ["chief 0"], "a name for each of 2"),
    ],
)
def test_what_does_not_fit(addresses, process, names, message):
    with pytest.raises(ValueError, match=message):
        Roster(addresses, process, names)


@pytest.mark.parametrize(
    ("addresses", "local"),
    [
        (["localhost:1", "127.0.0.2:1", "[::1]:1", "0.0.0.0:1"], True),
        (["localhost:1", "a:1"], False),
    ],
)
def test_a_cluster_on_one_machine(addresses, local):
    assert Roster(addresses, 0).is_local == local


@pytest.mark.parametrize(
    ("addresses", "indices"),
    [
        (["a:1", "b:1"], [0, 0]),
        (["a:1", "a:2", "b:1", "A.:3", "b:2"], [0, 1, 0, 2, 1]),
        (["[fd00::1]:1", "[fd00:0::1]:2"], [0, 1]),
        (["localhost:1", "127.0.0.2:1", "[::1]:1", "0.0.0.0:1"], [0, 1, 2, 3]),
        (["a:1", "localhost:1"], [0, 0]),
    ],
)
def test_processes_of_a_machine_are_numbered(addresses, indices):
    rosters = [Roster(addresses, process) for process in range(len(addresses))]
    assert [roster.index_on_machine for roster in rosters] == indices


@pytest.mark.parametrize(
    ("mine", "other", "own", "same"),
    [
        ("a:1", "A:1", False, True),
        ("a:1", "a:2", False, False),
        ("a:1", "b:1", True, False),
        ("a:1", "localhost:1", True, True),  # a task may list itself so
        ("a:1", "localhost:2", True, False),
        ("a:1", "localhost:1", False, False),
        ("a:1", 7, True, False),
        ("a:1", "?", True, False),
    ],
)
def test_the_same_address(mine, other, own, same):
    assert Roster.same_address(mine, other, own) == same
