"""Which tasks a job has."""

import pytest

from spmd.errors import LaunchError
from spmd.launch.tasks import Roles, names_of


def test_the_chief_comes_first_and_the_evaluator_does_not_train() -> None:
    roles = Roles(workers=2, chief=True, evaluator=True)
    assert list(map(str, roles.training)) == ["chief 0", "worker 0", "worker 1"]
    assert list(map(str, roles.all))[-1] == "evaluator 0"


def test_many_workers_are_named_as_a_range() -> None:
    assert names_of(Roles(workers=64, chief=True).all) == "chief 0, worker 0 to 63"


def test_a_chief_alone_is_enough() -> None:
    assert len(Roles(workers=0, chief=True).training) == 1


def test_somebody_must_train() -> None:
    with pytest.raises(LaunchError, match="--workers 1"):
        Roles(workers=0, evaluator=True)
