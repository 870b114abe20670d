"""The summary at the end: a table of attempts, if any failed, and how the gangs ended."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from spmd.cluster import Task
from spmd.launch.exit_status import describe_end, was_killed
from spmd.launch.gang import Gang
from spmd.launch.last_lines import error_in
from spmd.launch.output import Printer
from spmd.launch.tasks import names_of

_NO_TENSORFLOW = "ModuleNotFoundError: No module named 'tensorflow'"


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

    Examples:
        >>> Row(0, "", "worker 0", "exit code 1", 1, last_lines=("raise error", "KeyError: 1")).said
        'KeyError: 1'
    """

    attempt: int
    workers: str
    task: str
    how: str
    code: int = 0
    seconds: float = 0.0
    last_lines: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """Why it failed, in its own words; none of a task that was killed: its last lines are about something else."""
        if was_killed(self.code):
            return ""
        return "\n".join(self.last_lines) if self.code < 0 else error_in(self.last_lines)


def summarize(
    gangs: Sequence[Gang], seconds: float, printer: Printer, words: Sequence[str]
) -> None:
    """Prints the attempts that failed, or all if their number of workers may change, and how a job ended.

    Args:
        gangs: its tasks.
        seconds: how long it took.
        printer: shows it.
        words: of the command, after `python`.
    """
    rows = [row for gang in gangs for row in _rows_of(gang)]
    show_attempts(rows, printer)
    ends: dict[tuple[str, str], list[Task]] = {}
    for gang in gangs:
        end = "stopped" if gang.was_stopped else "failed" if gang.failed else "ended well"
        # Those that took lost workers back are none.
        restarts = sum(failure.attempt < gang.attempts - 1 for failure in gang.failures)
        if restarts:
            end += f" after {restarts} restart" + "s" * (restarts > 1)
        if gang.failed:
            first = gang.failures[-1].task if len(gang.tasks) > 1 else ""
            end += f": {first} with exit status" if first else ", with exit status"
            end += f" {gang.status}"
        # There may be many servers, most of which end alike; and one error ends all tasks that start alone.
        is_one_of_many = gang.serves or (gang.failed and len(gang.tasks) == 1)
        ends.setdefault((end, "" if is_one_of_many else gang.name), []).extend(gang.tasks)
    for (end, _), tasks in ends.items():
        printer.say(f"{names_of(tasks)} {end} ({seconds:.1f} s)")
    show_remedy(rows, words, printer)


def show_remedy(rows: Sequence[Row], words: Sequence[str], printer: Printer) -> None:
    """Says what to do about an import of TensorFlow, if that ended a task.

    Args:
        rows: of all attempts.
        words: of the command, after `python`.
        printer: shows it.
    """
    if not any(row.said == _NO_TENSORFLOW for row in rows):
        return
    script = f"{words[1].replace('.', '/')}.py" if words[0] == "-m" else words[0]
    printer.say(
        f"the script imports TensorFlow, which is not there: `jaxtribute check --fix {script}` writes a copy of it that imports "
        "jaxtribute's tf instead"
    )


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
    table.add_column("its last line of standard error", overflow="fold")
    for alike in _grouped(rows):
        first = alike[0]
        attempts = sorted({row.attempt for row in alike})
        tasks = list(dict.fromkeys(row.task for row in alike))
        seconds = sorted(row.seconds for row in alike)
        table.add_row(
            _ranges(attempts),
            *([first.workers] if is_elastic else []),
            _names(tasks),
            first.how,
            _seconds(seconds[0], seconds[-1]),
            Text.from_ansi(first.said),  # a script may use colours
        )
    printer.print(table)


def _grouped(rows: Sequence[Row]) -> list[list[Row]]:
    """Puts those together that failed with the same error, unless each attempt had workers of its own."""
    groups: dict[object, list[Row]] = {}
    for index, row in enumerate(rows):
        key = (row.how, row.said) if row.said and not row.workers else index
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def _ranges(attempts: Sequence[int]) -> str:
    first, last = attempts[0], attempts[-1]
    if len(attempts) > 2 and last - first == len(attempts) - 1:
        return f"{first} to {last}"
    return ", ".join(map(str, attempts))


def _names(tasks: Sequence[str]) -> str:
    if len(tasks) == 1:  # it may have the machine's name, too
        return tasks[0]
    pairs = [task.split() for task in tasks]
    names = names_of(Task(kind, int(index)) for kind, index in pairs)
    return names.replace(", ", ",\n")  # the column is not to be wide


def _seconds(least: float, most: float) -> str:
    if not most:
        return ""
    one, other = f"{least:.1f}", f"{most:.1f}"
    return f"{one} s" if one == other else f"{one} to {other} s"


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
