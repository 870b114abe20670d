"""Writes a plan as one page for a browser: charts and tables in one file, which needs no network and runs no script."""

from collections.abc import Iterator, Sequence

from spmd.plan.charts import Series, bars, escape, line_chart, stacked_bar
from spmd.plan.chips import chip_of
from spmd.plan.page_style import STYLE
from spmd.plan.report import Plan
from spmd.plan.scaling import Point
from spmd.plan.units import format_bytes, format_count, format_rate, format_seconds, format_share
from spmd.plan.wording import COMPILER, MODEL, group_text, headline, short_line, time_parts


def plan_page(plan: Plan) -> str:
    """Writes the page of a plan.

    Args:
        plan: to show.

    Returns:
        HTML, of one file.
    """
    title = f"{plan.step} on {plan.topology}"
    body = "\n".join(
        f'<section class="{style}">{_heading(name, who)}{content}</section>'
        for name, who, content, style in _sections(plan)
    )
    lead = "".join(f"<p>{escape(line)}</p>" for line in headline(plan))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<header><h1>{escape(title)}</h1>{lead}{_cards(plan)}</header>\n{body}\n"
        "<footer>Made by <code>jaxtribute plan</code>. Nothing here was measured: the program was compiled for this "
        "hardware, and not run.</footer>\n</main>\n</body>\n</html>\n"
    )


def _heading(name: str, who: str) -> str:
    note = f' <span class="who">{escape(who)}</span>' if who else ""
    return f"<h2>{escape(name)}{note}</h2>"


def _cards(plan: Plan) -> str:
    cards: list[tuple[str, str, str]] = []
    if plan.estimate is not None:
        found = plan.estimate
        cards += [
            ("step, at least", format_seconds(found.step_seconds), MODEL),
            ("bound by", found.bound, MODEL),
            ("MFU, at most", format_share(found.mfu), MODEL),
        ]
    if plan.fits is not None and plan.memory_limit is not None:
        share = format_share(plan.memory.total / plan.memory_limit)
        text = f"{share} of {format_bytes(plan.memory_limit)}"
        cards.append(("memory" if plan.fits else "does not fit", text, COMPILER))
    if plan.batch_limit is not None:
        cards.append(("largest batch, about", f"{plan.batch_limit.global_batch:,}", MODEL))
    return (
        '<div class="cards">'
        + "".join(
            f'<div class="card"><span>{escape(name)}</span><strong>{escape(value)}</strong>'
            f'<span class="who">{escape(who)}</span></div>'
            for name, value, who in cards
        )
        + "</div>"
    )


def _sections(plan: Plan) -> Iterator[tuple[str, str, str, str]]:
    """Name, whose figures, content and style of each section."""
    yield "Memory of one chip", COMPILER, _memory(plan), "half"
    if plan.estimate is not None:
        yield "Time of one step, at least", MODEL, _time(plan), "half"
    yield "Work of one chip, one step", "", _work(plan), ""
    yield "Collectives", "found in the compiled program", _collectives(plan), ""
    if plan.scaling is not None:
        yield "Scaling", MODEL, _scaling(plan), ""
    yield "Checks of the compiled program", "", _checks(plan), ""
    yield "Largest arrays that the step takes", "on one chip", _buffers(plan), ""
    if plan.estimate is not None:
        yield "What the estimates assume", "", _list(plan.estimate.assumptions), ""
    if plan.notes:
        yield "Notes", "", _list(plan.notes), ""


def _table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    escaped: bool = False,
    folds: bool = False,
) -> str:
    """A table; a column whose name begins with `>` holds numbers.

    Args:
        head: names of the columns.
        rows: their cells.
        escaped: whether the cells are HTML already.
        folds: whether each row becomes a list in a narrow window.
    """
    numbers = [name.startswith(">") for name in head]
    names = [name.removeprefix(">") for name in head]

    def cells(row: Sequence[str], tag: str) -> str:
        return "".join(
            f'<{tag}{" class=n" if number else ""} data-name="{escape(name)}">'
            f"{cell if escaped else escape(cell)}</{tag}>"
            for cell, number, name in zip(row, numbers, names, strict=True)
        )

    top = f"<thead><tr>{cells(names, 'th')}</tr></thead>" if any(names) else ""
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    style = ' class="folds"' if folds else ""
    return f'<div class="scroll"><table{style}>{top}<tbody>{body}</tbody></table></div>'


def _memory(plan: Plan) -> str:
    parts = [(part.kind, float(part.bytes)) for part in plan.memory_parts]
    total = plan.memory.total
    drawn = ""
    if plan.memory_limit is not None:
        limit = format_bytes(plan.memory_limit)
        drawn = f"<p>Of the {limit} that the chip has:</p>" + stacked_bar(
            parts, plan.memory_limit, f"{format_bytes(total)} of {limit}"
        )
    if plan.memory_limit is None or total < plan.memory_limit / 2:
        drawn += f"<p>Of the {format_bytes(total)} that the step takes:</p>" + stacked_bar(
            parts, total, "parts of the step's memory"
        )
    rows = [
        (
            f'<span class="key b{index + 1}"></span>{escape(part.kind)}',
            format_bytes(part.bytes),
            format_share(part.bytes / total if total else 0.0),
        )
        for index, part in enumerate(plan.memory_parts)
    ]
    rows.append(("<b>together</b>", f"<b>{format_bytes(total)}</b>", ""))
    table = _table(("", ">", ">"), rows, escaped=True)
    if plan.batch_limit is None:
        return drawn + table
    limit = plan.batch_limit
    text = (
        f"Largest batch that fits: about {limit.rows:,} rows a replica, {limit.global_batch:,} together. "
        f"{MODEL.capitalize()}, {limit.method}"
    )
    return f'{drawn}{table}<p class="small">{escape(text)}</p>'


def _time(plan: Plan) -> str:
    assert plan.estimate is not None
    rows = [(name, seconds, format_seconds(seconds)) for name, seconds in time_parts(plan)]
    step = format_seconds(plan.estimate.step_seconds)
    text = (
        f"A step takes at least {step}: the longest of compute, HBM and overlapped collectives, and then the collectives "
        "that are waited for."
    )
    drawn = bars(rows, f"parts of a step of {step}") + f'<p class="small">{escape(text)}</p>'
    return drawn + _roofline(plan)


def _roofline(plan: Plan) -> str:
    chip, found = chip_of(plan.chip), plan.estimate
    flops = sum(plan.flops.values())
    if chip is None or found is None or not flops or not plan.traffic_bytes:
        return ""
    peak = flops / found.compute_seconds
    ridge = peak / chip.memory_bandwidth
    intensity = flops / plan.traffic_bytes
    low, high = min(intensity, ridge) / 8, max(intensity, ridge) * 8
    roof = [(low, low * chip.memory_bandwidth), (ridge, peak), (high, peak)]
    at = flops / found.step_seconds
    series = (
        Series(f"peaks of {chip.title}", roof, 5, dashed=True),
        Series("this step, at best", [(intensity, at)], 1, titles=(format_rate(at, "FLOP"),)),
    )
    chart = line_chart(
        *(series, "FLOP per byte of HBM", "FLOP/s"),
        y_text=_short_count,
        x_text=lambda value: f"{value:g}",
        label="roofline",
    )
    text = (
        f"{intensity:,.3g} FLOP per byte; from {ridge:,.3g} on, arithmetic limits, below it HBM. A point below the roof "
        "waits for collectives."
    )
    return f'<h3>Roofline</h3>{chart}<p class="small">{escape(text)}</p>'


def _work(plan: Plan) -> str:
    rows = [
        (f"products of {dtype}", format_count(count, "FLOP"), "our count, of the traced program")
        for dtype, count in plan.flops.items()
    ]
    rows.append(
        (
            *("elementwise", format_count(plan.elementwise_flops, "FLOP")),
            "our count, of the traced program",
        )
    )
    if plan.compiler_flops is not None:
        call = "" if plan.steps_per_call == 1 else " of one call,"
        text = f"XLA's count,{call} each loop's body once"
        rows.append(("all, after fusion", format_count(plan.compiler_flops, "FLOP"), text))
    rows.append(
        (
            *("to and from HBM", format_bytes(plan.traffic_bytes)),
            "our estimate, of the compiled program",
        )
    )
    if plan.compiler_bytes is not None:
        rows.append(
            ("bytes accessed", format_bytes(plan.compiler_bytes), "XLA's, with on-chip memory")
        )
    rows.append(("sent", format_bytes(plan.sent_bytes), "our count, if collectives work as rings"))
    return _table(("", ">", "whose figure"), rows)


def _collectives(plan: Plan) -> str:
    if not plan.collectives:
        return "<p>None: nothing travels between chips.</p>"
    rows = [
        (
            each.kind,
            f"{each.times:,.0f}" + ("" if each.times_known else "?"),
            *(format_bytes(each.payload), format_bytes(each.traffic), group_text(each)),
            "yes" if each.overlapped else "no",
            *(short_line(each.line), plan.sources.get((each.line or "").removeprefix("near "), "")),
        )
        for each in plan.collectives
    ]
    head = ("kind", ">times", ">payload", ">sent by a chip", ">group", "overlaps", "line", "source")
    return _table(head, rows, folds=True) + (
        '<p class="small">Payload is the array that is summed or gathered; sent is what each chip sends if the group '
        "passes it around in a ring.</p>"
    )


def _scaling(plan: Plan) -> str:
    assert plan.scaling is not None
    curves = [
        ("the same global batch", plan.scaling.fixed_global, 1),
        ("the same batch for each chip", plan.scaling.fixed_per_chip, 3),
    ]
    curves = [curve for curve in curves if len(curve[1]) > 1]
    drawn = ""
    if curves:
        drawn = f'<div class="pair"><div>{_speed_chart(curves)}</div><div>{_step_chart(curves)}</div></div>'
    tables = "".join(
        f"<h3>{escape(name.capitalize())}</h3>{_points(points)}"
        for name, points in (
            ("compiled for each topology", plan.scaling.compiled),
            *((name, points) for name, points, _ in curves),
        )
        if len(points) > 1
    )
    text = (
        "Efficiency: rows a second and chip, against the first line. Steps that are not compiled are predicted "
        f"{plan.scaling.method}"
    )
    return drawn + tables + f'<p class="small">{escape(text)}</p>'


def _speed_chart(curves: Sequence[tuple[str, tuple[Point, ...], int]]) -> str:
    series = [
        Series(
            *(name, [(each.devices, each.rows_per_second) for each in points], color),
            titles=[f"{each.topology}: {format_rate(each.rows_per_second, '')}" for each in points],
        )
        for name, points, color in curves
    ]
    for name, points, _ in curves:
        first = points[0]
        ideal = [
            (each.devices, first.rows_per_second * each.devices / first.devices) for each in points
        ]
        series.append(Series(f"{name}, if it scaled perfectly", ideal, 5, dashed=True))
    return line_chart(
        *(series, "chips", "rows/s"),
        y_text=_short_count,
        x_text=lambda value: f"{value:g}",
        whole_powers_of_two=True,
        label="rows per second by number of chips",
    )


def _step_chart(curves: Sequence[tuple[str, tuple[Point, ...], int]]) -> str:
    series = [
        Series(
            *(name, [(each.devices, each.step_seconds) for each in points], color),
            titles=[f"{each.topology}: {format_seconds(each.step_seconds)}" for each in points],
        )
        for name, points, color in curves
    ]
    return line_chart(
        *(series, "chips", "time of a step"),
        y_text=_short_seconds,
        x_text=lambda value: f"{value:g}",
        whole_powers_of_two=True,
        label="time of a step by number of chips",
    )


def _short_count(value: float) -> str:
    number, _, prefix = format_count(value).partition(" ")
    return f"{float(number):g}{prefix}"


def _short_seconds(value: float) -> str:
    number, unit = format_seconds(value).split(" ")
    return f"{float(number):g}{unit}"


def _points(points: tuple[Point, ...]) -> str:
    rows = [
        (
            each.topology,
            f"{each.global_batch / each.devices:,.5g}",
            format_seconds(each.step_seconds),
            format_count(each.rows_per_second),
            format_share(each.efficiency),
            format_bytes(each.memory) + ("" if each.fits else ": does not fit"),
            each.bound,
            COMPILER if each.compiled else "predicted",
        )
        for each in points
    ]
    head = (
        *("topology", ">rows/chip", ">step", ">rows/s", ">efficiency", ">memory", "bound"),
        "memory is",
    )
    return _table(head, rows)


def _checks(plan: Plan) -> str:
    rows = [
        (
            f'<span class="{"ok" if check.passed else "look"}">{"ok" if check.passed else "look"}</span>',
            *(escape(check.name), escape(check.text)),
        )
        for check in plan.checks
    ]
    return _table(("", "", ""), rows, escaped=True)


def _buffers(plan: Plan) -> str:
    rows = [
        (each.name, each.kind, f"{each.dtype}{list(each.shape)}", format_bytes(each.bytes))
        for each in plan.buffers[:10]
    ]
    return _table(("name", "kind", "over all chips", ">bytes"), rows, folds=True)


def _list(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
