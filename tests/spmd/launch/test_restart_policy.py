"""Whether and when tasks start again."""

import pytest

from spmd.cluster.exit_codes import RETRYABLE_EXIT_CODE
from spmd.errors import LaunchError
from spmd.launch.restart_policy import Failure, RestartPolicy

POLICY = RestartPolicy(max_restarts=20, backoff_seconds=1)


def failures(*returncodes: int, seconds: float = 5.0, line: str = "") -> list[Failure]:
    return [
        Failure(number, "worker 0", code, seconds, (line or f"line {number}",))
        for number, code in enumerate(returncodes)
    ]


def test_waits_double_up_to_a_minute() -> None:
    waits = [POLICY.decide(failures(*[-9] * count)) for count in range(1, 10)]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_waits_stay_at_a_minute_however_often_it_fails() -> None:
    assert RestartPolicy(max_restarts=9999).decide(failures(*[-9] * 2000)) == 60


def test_an_attempt_that_ran_for_long_starts_the_row_anew() -> None:
    early, late = failures(-9, -9, -9), failures(-9, seconds=3600.0)
    assert POLICY.decide(early + late) == 1
    assert POLICY.decide(early + late + early[:1]) == 1


def test_restarts_are_counted() -> None:
    policy = RestartPolicy(max_restarts=2, backoff_seconds=0)
    assert policy.decide(failures(-9, -9)) == 0
    assert "all 2 restarts are used up" in policy.decide(failures(-9, -9, -9))
    assert "switched off" in RestartPolicy(max_restarts=0).decide(failures(1))


def test_the_same_error_at_once_is_not_tried_a_third_time() -> None:
    assert POLICY.decide(failures(1, line="ImportError: x")) == 1
    assert "would end in the same way" in POLICY.decide(failures(1, 1, line="ImportError: x"))


@pytest.mark.parametrize(
    "others",
    [
        failures(1, 1),
        failures(1, 2, line="same"),
        failures(1, 1, line="same", seconds=31.0),
        failures(-9, -9, line="same"),
        failures(RETRYABLE_EXIT_CODE, RETRYABLE_EXIT_CODE, line="same"),
    ],
    ids=["other line", "other code", "later", "a signal", "asked for a restart"],
)
def test_other_failures_are_tried_again(others: list[Failure]) -> None:
    assert POLICY.decide(others) == 2


@pytest.mark.parametrize(
    "name",
    ["max_restarts", "backoff_seconds", "grace_seconds", "evaluator_seconds", "regrow_seconds"],
)
def test_negative_numbers_are_refused(name: str) -> None:
    with pytest.raises(LaunchError, match=name.replace("_", "-")):
        RestartPolicy(**{name: -1})
