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


WORDS = ("train.py", "--steps", "8")
LOST = Failure(0, "worker 1", -9, 62.4, ("loss: 0.25",))
FAILED = Failure(1, "worker 0", 1, 9.1, ("raise error", "OSError: no"))


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
            "worker 0 failed after 1 restart, with exit status 1 (3.0 s)",
            ["SIGKILL", "exit code 1"],
        ),
        (  # how a task ends that was asked to is not worth a row
            gang("worker 0", 2, LOST, FAILED, was_stopped=True),
            "worker 0 stopped after 1 restart, with exit status 1 (3.0 s)",
            ["SIGKILL"],
        ),
    ],
)
def test_what_is_told(one, last: str, rows: list[str]) -> None:
    printer = Printer()
    summarize([one], 3.0, printer, WORDS)
    *table, end = printer.text.splitlines()
    assert end == last
    assert [how for how in ("SIGKILL", "exit code 1") if how in "\n".join(table)] == rows
    assert ("OSError: no" in printer.text) == ("exit code 1" in rows)
    assert "raise error" not in printer.text
    assert "loss" not in printer.text  # it has nothing to do with the signal


def test_servers_that_ended_alike_share_a_line() -> None:
    printer = Printer()
    first, other = (gang(name, 1, was_stopped=True, serves=True) for name in ("worker 0", "ps 0"))
    lost = gang("worker 1", 2, Failure(0, "worker 1", -9, 2.0), was_stopped=True, serves=True)
    evaluator = gang("evaluator 0", 1, was_stopped=True)
    summarize([gang("chief 0", 1), first, lost, other, evaluator], 3.0, printer, WORDS)
    assert printer.text.splitlines()[-4:] == [
        "chief 0 ended well (3.0 s)",
        "worker 0, ps 0 stopped (3.0 s)",
        "worker 1 stopped after 1 restart (3.0 s)",
        "evaluator 0 stopped (3.0 s)",
    ]


def test_the_evaluator_has_a_line_of_its_own() -> None:
    printer = Printer()
    summarize([gang("worker 0", 1), gang("evaluator 0", 1, was_stopped=True)], 3.0, printer, WORDS)
    assert printer.text == "worker 0 ended well (3.0 s)\nevaluator 0 stopped (3.0 s)\n"


def test_a_crash_keeps_its_last_lines() -> None:
    printer = Printer()
    crash = Failure(0, "worker 0", -11, 5.0, ("Fatal Python error: Segmentation fault", "File x"))
    summarize([gang("worker 0", 1, crash)], 3.0, printer, WORDS)
    assert "Segmentation fault" in printer.text
    assert "File x" in printer.text


def test_tasks_that_fail_with_the_same_error_share_a_row_and_a_line() -> None:
    printer = Printer()
    names = ("chief 0", "worker 0", "worker 1", "ps 0")
    error = ("raise ValueError(text)", "ValueError: no data")
    gangs = [
        gang(
            name,
            2,
            *(Failure(n, name, 1, 2.0 + n, error) for n in range(2)),
            serves=name != "chief 0",
        )
        for name in names
    ]
    lost = gang("worker 2", 2, Failure(0, "worker 2", -9, 4.0), was_stopped=True, serves=True)
    summarize([*gangs, lost], 9.0, printer, WORDS)
    assert printer.text.count("ValueError: no data") == 1
    assert "raise" not in printer.text
    row = next(line for line in printer.text.splitlines() if "ValueError" in line)
    cells = [cell.strip() for cell in row.split("│")]
    assert cells == ["0, 1", "chief 0,", "exit code 1", "2.0 to 3.0 s", "ValueError: no data"]
    assert printer.text.splitlines()[-2:] == [
        "chief 0, worker 0, worker 1, ps 0 failed after 1 restart, with exit status 1 (9.0 s)",
        "worker 2 stopped after 1 restart (9.0 s)",
    ]


def test_attempts_in_a_row_are_a_range() -> None:
    printer = Printer()
    failures = [Failure(number, "worker 0", 1, 2.0, ("OSError: no",)) for number in range(4)]
    summarize([gang("worker 0", 4, *failures)], 9.0, printer, WORDS)
    rows = [line for line in printer.text.splitlines() if "│" in line]
    assert [row.split("│")[0].strip() for row in rows] == ["0 to 3"]


@pytest.mark.parametrize(
    ("words", "script"), [(WORDS, "train.py"), (("-m", "my.train"), "my/train.py")]
)
def test_a_script_that_imports_tensorflow_is_to_be_converted(words, script: str) -> None:
    for error, hints in (("tensorflow", 1), ("pandas", 0)):
        printer = Printer()
        said = (f"ModuleNotFoundError: No module named '{error}'",)
        summarize([gang("worker 0", 1, Failure(0, "worker 0", 1, 1.0, said))], 3.0, printer, words)
        assert printer.text.splitlines()[-1].count(f"`jaxtribute check --fix {script}`") == hints
