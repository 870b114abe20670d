"""The summary at the end: a table of attempts, if any failed, and how the gangs ended."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from spmd.cluster import Task
from spmd.launch.exit_status import describe_end
from spmd.launch.gang import Gang
from spmd.launch.output import Printer
from spmd.launch.tasks import names_of


class Row(NamedTuple):
    """What the table has of an attempt.

    Attributes:
        attempt: its number, from 0.
        workers: how many it had; empty if that does not change.
        task: the first task to end; empty if none failed.
        how: how that ended, or the attempt if none failed.
        code: that of the task, as `subprocess.Popen` gives it.
        seconds: how long the task ran.
        last_lines: the end of its standard error.
    """

    attempt: int
    workers: str
    task: str
    how: str
    code: int = 0
    seconds: float = 0.0
    last_lines: tuple[str, ...] = ()


def summarize(gangs: Sequence[Gang], seconds: float, printer: Printer) -> None:
    """Prints the attempts that failed, or all if their number of workers may change, and how a job ended that took `seconds`."""
    show_attempts([row for gang in gangs for row in _rows_of(gang)], printer)
    ends: dict[tuple[str, str], list[Task]] = {}
    for gang in gangs:
        end = "stopped" if gang.was_stopped else "failed" if gang.failed else "ended well"
        # Those that took lost workers back are none.
        restarts = sum(failure.attempt < gang.attempts - 1 for failure in gang.failures)
        if restarts:
            end += f" after {restarts} restart" + "s" * (restarts > 1)
        if gang.failed:
            end += f": {gang.failures[-1].task} with exit status {gang.status}"
        # There may be many servers, most of which end alike.
        ends.setdefault((end, "" if gang.serves else gang.name), []).extend(gang.tasks)
    for (end, _), tasks in ends.items():
        printer.say(f"{names_of(tasks)} {end} ({seconds:.1f} s)")


def show_attempts(rows: Sequence[Row], printer: Printer) -> None:
    """Prints the table of attempts, unless there was one, which ended well."""
    if len(rows) < 2 and not any(row.task for row in rows):
        return
    is_elastic = any(row.workers for row in rows)
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("attempt", justify="right")
    if is_elastic:
        table.add_column("workers", justify="right")
    table.add_column("first to end", no_wrap=True)
    table.add_column("how", no_wrap=True)
    table.add_column("after", justify="right", no_wrap=True)
    table.add_column("its last lines of standard error", overflow="fold")
    for row in rows:
        table.add_row(
            str(row.attempt),
            *([row.workers] if is_elastic else []),
            row.task,
            row.how,
            f"{row.seconds:.1f} s" if row.seconds else "",
            Text.from_ansi("\n".join(row.last_lines)),  # a script may use colours
        )
    printer.print(table)


def _rows_of(gang: Gang) -> Iterator[Row]:
    failures = {failure.attempt: failure for failure in gang.failures}
    last = gang.attempts - 1
    if gang.was_stopped:
        failures.pop(last, None)  # what a task does after it was asked to stop is not a failure
    for attempt in range(gang.attempts) if gang.workers else failures:
        workers = str(gang.workers[attempt]) if gang.workers else ""
        if failure := failures.get(attempt):
            code = failure.returncode
            shown = describe_end(code), code, failure.seconds, failure.last_lines
            yield Row(attempt, workers, failure.task, *shown)
        elif attempt < last:
            yield Row(attempt, workers, "", "stopped to start all")
        else:
            yield Row(attempt, workers, "", "stopped" if gang.was_stopped else "ended well")
