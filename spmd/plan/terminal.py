"""Shows a plan in a terminal, or as plain text where there is none."""

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from spmd.plan.collectives import Collective
from spmd.plan.report import Plan
from spmd.plan.scaling import Point, Scaling
from spmd.plan.units import format_bytes, format_count, format_seconds, format_share
from spmd.plan.wording import COMPILER, MODEL, group_text, headline, short_line, time_parts

_BAR = 24


def print_plan(plan: Plan, console: Console) -> None:
    """Prints a plan.

    Args:
        plan: to show.
        console: where to; 80 columns are enough.
    """
    if console.is_terminal:
        _print(plan, console)
        return
    with console.capture() as captured:
        _print(plan, console)
    for line in captured.get().splitlines():  # no blanks at the ends of lines
        console.out(line.rstrip(), highlight=False)


def _print(plan: Plan, console: Console) -> None:
    console.print(Text(f"{plan.step} on {plan.topology}", style="bold"))
    for line in headline(plan):
        console.print(_indented(Text(line)))
    for title, who, part in _sections(plan):
        console.print()
        heading = Text(title, style="bold cyan")
        heading.append(f"  ({who})" if who else "", style="not bold dim")
        console.print(heading)
        console.print(_indented(part))


def _indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2), expand=False)


def _sections(plan: Plan) -> Iterator[tuple[str, str, RenderableType]]:
    yield "Memory of one chip", COMPILER, _memory(plan)
    yield "Work of one chip, one step", "", _work(plan)
    if plan.estimate is not None:
        yield "Time of one step, at least", MODEL, _time(plan)
    yield "Collectives", "found in the compiled program", _collectives(plan)
    if plan.scaling is not None:
        yield "Scaling", MODEL, _scaling(plan)
    yield "Checks of the compiled program", "", _checks(plan)
    if plan.estimate is not None:
        yield "What the estimates assume", "", _list(plan.estimate.assumptions)
    if plan.notes:
        yield "Notes", "", _list(plan.notes)


def _table(*columns: str) -> Table:
    """A table without borders; a column whose name begins with `<` is aligned to the left."""
    table = Table(box=None, pad_edge=False, show_header=any(columns), header_style="dim")
    for column in columns:
        left = column.startswith("<") or not column
        table.add_column(
            column.removeprefix("<"), justify="left" if left else "right", overflow="fold"
        )
    return table


def _memory(plan: Plan) -> RenderableType:
    table = _table("<", "", "<")
    table.show_header = False
    table.columns[1].justify = "right"
    most = max((part.bytes for part in plan.memory_parts), default=1)
    for part in plan.memory_parts:
        table.add_row(part.kind, format_bytes(part.bytes), _bar(part.bytes / most))
    table.add_row(Text("together", style="bold"), format_bytes(plan.memory.total), "")
    if plan.memory_limit is not None:
        share = plan.memory.total / plan.memory_limit
        fits = Text("fits", style="green") if plan.fits else Text("does not fit", style="bold red")
        fits.append(f": {format_share(share)} of it", style="default not bold")
        table.add_row("the chip has", format_bytes(plan.memory_limit), fits)
    parts: list[RenderableType] = [table]
    if plan.batch_limit is not None:
        limit = plan.batch_limit
        parts.append(
            Text(
                f"Largest batch that fits: about {limit.rows:,} rows a replica, {limit.global_batch:,} "
                f"together. {MODEL.capitalize()}; see Scaling for how it is made."
            )
        )
    return Group(*parts)


def _bar(share: float) -> Text:
    return Text("█" * max(1 if share > 0 else 0, round(share * _BAR)), style="blue")


def _work(plan: Plan) -> RenderableType:
    table = _table("<", "", "<")
    table.show_header = False
    table.columns[1].justify = "right"
    for dtype, count in plan.flops.items():
        table.add_row(
            f"products of {dtype}", format_count(count, "FLOP"), "our count, of the traced program"
        )
    table.add_row(
        "elementwise",
        format_count(plan.elementwise_flops, "FLOP"),
        "our count, of the traced program",
    )
    if plan.compiler_flops is not None:
        call = "" if plan.steps_per_call == 1 else " a call,"
        table.add_row(
            "all, after fusion",
            format_count(plan.compiler_flops, "FLOP"),
            f"XLA's count,{call} each loop's body once",
        )
    table.add_row(
        "to and from HBM", format_bytes(plan.traffic_bytes), "our estimate, of the compiled program"
    )
    if plan.compiler_bytes is not None:
        table.add_row(
            "",
            format_bytes(plan.compiler_bytes),
            'XLA\'s "bytes accessed": on-chip memory as well',
        )
    table.add_row("sent", format_bytes(plan.sent_bytes), "our count, if collectives work as rings")
    return table


def _time(plan: Plan) -> RenderableType:
    table = _table("<", "", "<")
    table.show_header = False
    table.columns[1].justify = "right"
    parts = time_parts(plan)
    most = max((seconds for _, seconds in parts), default=0.0) or 1.0
    for name, seconds in parts:
        table.add_row(name, format_seconds(seconds), _bar(seconds / most))
    assert plan.estimate is not None
    table.add_row(Text("step", style="bold"), format_seconds(plan.estimate.step_seconds), "")
    return table


def _collectives(plan: Plan) -> RenderableType:
    if not plan.collectives:
        return Text("None: nothing travels between chips.")
    table = _table("<kind", "payload", "sent", "<group", "<overlaps", "<from")
    for each in plan.collectives:
        table.add_row(
            each.kind + _times(each),
            format_bytes(each.payload),
            format_bytes(each.traffic),
            group_text(each),
            "yes" if each.overlapped else "no",
            short_line(each.line),
        )
    return table


def _times(collective: Collective) -> str:
    if collective.times == 1 and collective.times_known:
        return ""
    return f" x {collective.times:,.0f}{'' if collective.times_known else '?'}"


def _scaling(plan: Plan) -> RenderableType:
    assert plan.scaling is not None
    parts: list[RenderableType] = []
    for title, points in (
        ("compiled for each topology", plan.scaling.compiled),
        ("the same global batch", plan.scaling.fixed_global),
        ("the same batch for each chip", plan.scaling.fixed_per_chip),
    ):
        if len(points) > 1:
            parts += [Text(title, style="italic"), _points(points), Text("")]
    parts.append(
        Text(
            "* compiled; the others are predicted. Efficiency: rows a second and chip, against the first line."
            + (
                " ! does not fit."
                if not all(each.fits for each in _all_points(plan.scaling))
                else ""
            )
            + f" Predictions are made {plan.scaling.method}"
        )
    )
    return Group(*parts)


def _all_points(scaling: Scaling) -> tuple[Point, ...]:
    return scaling.compiled + scaling.fixed_global + scaling.fixed_per_chip


def _points(points: tuple[Point, ...]) -> Table:
    table = _table("<topology", "rows/chip", "step", "rows/s", "efficiency", "memory", "<bound")
    for each in points:
        memory = Text(format_bytes(each.memory))
        if not each.fits:
            memory = Text(f"{memory}!", style="bold red")
        table.add_row(
            each.topology + (" *" if each.compiled else ""),
            f"{each.global_batch / each.devices:,.5g}",
            format_seconds(each.step_seconds),
            format_count(each.rows_per_second),
            format_share(each.efficiency),
            memory,
            each.bound,
        )
    for column in table.columns:
        column.no_wrap = True
    return table


def _checks(plan: Plan) -> RenderableType:
    table = _table("<", "<", "<")
    table.show_header = False
    for check in plan.checks:
        mark = Text("ok", style="green") if check.passed else Text("look", style="bold yellow")
        table.add_row(mark, check.name, Text(check.text))
    return table


def _list(lines: tuple[str, ...]) -> RenderableType:
    table = _table("<", "<")
    table.show_header = False
    for line in lines:
        table.add_row("-", Text(line))
    return table
