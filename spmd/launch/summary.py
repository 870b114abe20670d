"""The summary at the end: a table of failed attempts, if any, and how the gangs ended."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from spmd.cluster import Task
from spmd.launch.exit_status import describe_end
from spmd.launch.gang import Gang
from spmd.launch.output import Printer
from spmd.launch.tasks import names_of


def summarize(gangs: Sequence[Gang], seconds: float, printer: Printer) -> None:
    """Prints the failed attempts, and how a job ended that took `seconds`."""
    # What a task does after it was asked to stop is not a failure.
    failures = [
        failure
        for gang in gangs
        for failure in gang.failures
        if not (gang.was_stopped and failure.attempt == gang.attempts - 1)
    ]
    if failures:
        table = Table(show_edge=False, pad_edge=False)
        table.add_column("attempt", justify="right")
        table.add_column("first to end", no_wrap=True)
        table.add_column("how", no_wrap=True)
        table.add_column("after", justify="right", no_wrap=True)
        table.add_column("its last lines of standard error", overflow="fold")
        for failure in failures:
            table.add_row(
                str(failure.attempt),
                failure.task,
                describe_end(failure.returncode),
                f"{failure.seconds:.1f} s",
                Text.from_ansi("\n".join(failure.last_lines)),  # a script may use colours
            )
        printer.print(table)
    ends: dict[tuple[str, str], list[Task]] = {}
    for gang in gangs:
        end = "stopped" if gang.was_stopped else "failed" if gang.failed else "ended well"
        if (restarts := gang.attempts - 1) > 0:
            end += f" after {restarts} restart" + "s" * (restarts > 1)
        if gang.failed:
            end += f": {gang.failures[-1].task} with exit status {gang.status}"
        # There may be many servers, most of which end alike.
        ends.setdefault((end, "" if gang.serves else gang.name), []).extend(gang.tasks)
    for (end, _), tasks in ends.items():
        printer.say(f"{names_of(tasks)} {end} ({seconds:.1f} s)")
