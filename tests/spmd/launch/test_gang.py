"""Which of several tasks that have ended is the one to tell of."""

import inspect
import io
from types import SimpleNamespace

import pytest

from spmd.launch.gang import Gang
from spmd.launch.last_lines import LastLines
from spmd.launch.output import Printer
from spmd.launch.restart_policy import RestartPolicy
from spmd.launch.tasks import Roles

pytestmark = pytest.mark.multiprocess


def ended(task, returncode: int) -> SimpleNamespace:
    """A process that has ended before anybody looks."""
    return SimpleNamespace(
        task=task,
        returncode=returncode,
        number=0,
        seconds=1.0,
        last_lines=LastLines(),
        has_ended=lambda: True,
        drain=lambda seconds: None,
        send=lambda signal_number: None,
    )


@pytest.mark.parametrize(
    ("returncodes", "first", "status"),
    [
        ((-6, -9), "worker 1", 137),
        ((1, -9), "worker 1", 137),
        ((-9, -6), "worker 0", 137),
        ((0, 143), "worker 1", 143),
        ((143, 1), "worker 1", 1),
        ((-6, 1), "worker 1", 1),
        ((143, -9), "worker 1", 137),
        ((1, 2), "worker 0", 1),
    ],
)
def test_of_two_that_ended_at_once_the_cause_is_told_of(
    returncodes: tuple[int, int], first: str, status: int
) -> None:
    tasks = Roles(workers=2).cluster
    processes = [ended(task, code) for task, code in zip(tasks, returncodes, strict=True)]
    printer = Printer(io.StringIO(), io.StringIO())
    gang = Gang(tasks, lambda *_: processes, RestartPolicy(0, grace_seconds=0.0), printer)
    gang.begin()
    gang.poll()
    printer.close(60)
    assert gang.ended
    assert gang.is_last_attempt
    assert gang.failures[0].task == first
    assert gang.status == status


@pytest.mark.parametrize("restarts", [0, 1], ids=["has ended", "waits for another attempt"])
def test_a_gang_of_which_nothing_runs_has_no_deadline_after_a_kill(restarts: int) -> None:
    """Otherwise whoever waits for another gang would look at this one again and again."""
    tasks = Roles(workers=1).cluster
    printer = Printer(io.StringIO(), io.StringIO())
    gang = Gang(tasks, lambda *_: [ended(tasks[0], 1)], RestartPolicy(restarts), printer)
    gang.begin()
    gang.poll()
    gang.kill()
    printer.close(60)
    assert gang.ended
    assert gang.deadline == float("inf")


def test_a_gang_is_made_of_what_it_needs_not_of_its_state() -> None:
    needed = ["tasks", "start", "policy", "printer", "serves", "elastic"]
    assert [*inspect.signature(Gang).parameters] == needed


@pytest.mark.parametrize(("serves", "status"), [(False, 0), (True, 1)])
def test_a_server_that_ends_has_failed_even_if_it_ended_well(serves: bool, status: int) -> None:
    tasks = Roles(1).all
    printer = Printer(io.StringIO(), io.StringIO())
    gang = Gang(tasks, lambda *_: [ended(tasks[0], 0)], RestartPolicy(0), printer, serves)
    gang.begin()
    gang.poll()
    printer.close(60)
    assert gang.failed == serves
    assert gang.status == status
