"""Which tasks a job has."""

import pytest

from spmd.errors import LaunchError
from spmd.launch.tasks import Roles, names_of


def test_the_chief_comes_first_and_the_evaluator_does_not_train() -> None:
    roles = Roles(workers=2, chief=True, evaluator=True)
    assert list(map(str, roles.cluster)) == ["chief 0", "worker 0", "worker 1"]
    assert list(map(str, roles.all))[-1] == "evaluator 0"


def test_many_workers_are_named_as_a_range() -> None:
    assert names_of(Roles(workers=64, chief=True).all) == "chief 0, worker 0 to 63"


def test_a_chief_alone_is_enough() -> None:
    assert len(Roles(workers=0, chief=True).cluster) == 1


def test_somebody_must_train() -> None:
    with pytest.raises(LaunchError, match="--workers 1"):
        Roles(workers=0, evaluator=True)


def test_each_task_starts_again_alone_where_there_are_parameter_servers() -> None:
    roles = Roles(workers=2, chief=True, evaluator=True, ps=1)
    names = ["chief 0", "worker 0", "worker 1", "ps 0", "evaluator 0"]
    assert list(map(str, roles.all)) == names
    assert [names_of(gang) for gang in roles.gangs] == names
    assert [str(task) for task in roles.all if roles.serves(task)] == names[1:4]
    assert [str(task) for task in roles.computing] == names[1:3]


def test_tasks_that_train_synchronously_start_again_together() -> None:
    roles = Roles(workers=2, chief=True, evaluator=True)
    assert [names_of(gang) for gang in roles.gangs] == [
        "chief 0, worker 0, worker 1",
        "evaluator 0",
    ]
    assert not any(map(roles.serves, roles.all))
    assert roles.computing == roles.cluster


@pytest.mark.parametrize(
    ("roles", "advice"),
    [
        ({"workers": 2, "min_workers": 4}, "Write --workers 2:4"),
        ({"workers": 3, "min_workers": 0}, "Write --workers 1:3"),
        ({"workers": 3, "min_workers": -1, "chief": True}, "Write --workers 0:3"),
        ({"workers": 3, "min_workers": 2, "chief": True, "ps": 1}, "Write --workers 3"),
    ],
)
def test_the_fewest_workers_are_some_and_not_more_than_there_are(roles: dict, advice: str) -> None:
    with pytest.raises(LaunchError, match=advice):
        Roles(**roles)


@pytest.mark.parametrize(
    ("roles", "advice"),
    [
        ({"workers": 2, "ps": 1}, "--ps 1 --workers 2 --chief"),
        ({"workers": 0, "chief": True, "ps": 2}, "--ps 2 --workers 1 --chief"),
        ({"workers": 1, "ps": -1}, "--ps to be from 0"),
    ],
)
def test_parameter_servers_need_a_chief_and_workers(roles: dict, advice: str) -> None:
    with pytest.raises(LaunchError, match=advice):
        Roles(**roles)
