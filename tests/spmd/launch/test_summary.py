"""The table of what failed, and how it ended."""

from types import SimpleNamespace

import pytest
from rich.console import Console

from spmd.cluster import Task
from spmd.launch.restart_policy import Failure
from spmd.launch.summary import summarize


class Printer:
    """Keeps what is printed."""

    def __init__(self) -> None:
        self.text = ""

    def say(self, text: str) -> None:
        self.text += f"{text}\n"

    def print(self, what: object) -> None:
        console = Console(width=120)
        with console.capture() as capture:
            console.print(what)
        self.text += capture.get()


def gang(
    name: str,
    attempts: int,
    *failures: Failure,
    was_stopped: bool = False,
    serves: bool = False,
) -> SimpleNamespace:
    kind, index = name.split()
    return SimpleNamespace(
        name=name,
        tasks=[Task(kind, int(index))],
        serves=serves,
        attempts=attempts,
        workers=[],
        failures=list(failures),
        failed=len(failures) == attempts,
        was_stopped=was_stopped,
        status=failures[-1].returncode if failures else 0,
    )


LOST = Failure(0, "worker 1", -9, 62.4)
FAILED = Failure(1, "worker 0", 1, 9.1, ("Traceback", "OSError: no"))


@pytest.mark.parametrize(
    ("one", "last", "rows"),
    [
        (gang("worker 0", 1), "worker 0 ended well (3.0 s)", []),
        (
            gang("worker 0", 3, LOST, FAILED),
            "worker 0 ended well after 2 restarts (3.0 s)",
            ["SIGKILL", "exit code 1"],
        ),
        (
            gang("worker 0", 2, LOST, FAILED),
            "worker 0 failed after 1 restart: worker 0 with exit status 1 (3.0 s)",
            ["SIGKILL", "exit code 1"],
        ),
        (  # how a task ends that was asked to is not worth a row
            gang("worker 0", 2, LOST, FAILED, was_stopped=True),
            "worker 0 stopped after 1 restart: worker 0 with exit status 1 (3.0 s)",
            ["SIGKILL"],
        ),
    ],
)
def test_what_is_told(one, last: str, rows: list[str]) -> None:
    printer = Printer()
    summarize([one], 3.0, printer)
    *table, end = printer.text.splitlines()
    assert end == last
    assert [how for how in ("SIGKILL", "exit code 1") if how in "\n".join(table)] == rows
    assert ("OSError: no" in printer.text) == ("exit code 1" in rows)


def test_servers_that_ended_alike_share_a_line() -> None:
    printer = Printer()
    first, other = (gang(name, 1, was_stopped=True, serves=True) for name in ("worker 0", "ps 0"))
    lost = gang("worker 1", 2, Failure(0, "worker 1", -9, 2.0), was_stopped=True, serves=True)
    evaluator = gang("evaluator 0", 1, was_stopped=True)
    summarize([gang("chief 0", 1), first, lost, other, evaluator], 3.0, printer)
    assert printer.text.splitlines()[-4:] == [
        "chief 0 ended well (3.0 s)",
        "worker 0, ps 0 stopped (3.0 s)",
        "worker 1 stopped after 1 restart (3.0 s)",
        "evaluator 0 stopped (3.0 s)",
    ]


def test_the_evaluator_has_a_line_of_its_own() -> None:
    printer = Printer()
    summarize([gang("worker 0", 1), gang("evaluator 0", 1, was_stopped=True)], 3.0, printer)
    assert printer.text == "worker 0 ended well (3.0 s)\nevaluator 0 stopped (3.0 s)\n"
