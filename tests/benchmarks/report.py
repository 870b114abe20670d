"""What benchmarks measured, as JSON, Markdown and a chart."""

import contextlib
import datetime
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from tests.benchmarks.summary import summarize

Row = Mapping[str, object]

_COLUMNS = ["workload", "devices", "against", "times as fast", "at least", "ms, ours : theirs"]
_BLANK = "\N{NO-BREAK SPACE}"
_STARTS = ("startup", "estimator_start")
_INPUT = "Input alone: "
_SEVERAL_PROCESSES = re.compile(r"\b(processes|servers?|workers)\b")
_HEAD = """# Against TensorFlow, Keras, PyTorch and hand-written JAX

{summary}
## How to read the tables

- *Times as fast*: how many times as fast ours is; below 1 it is slower. Programs take turns, and turns of the same round are compared: the median of all rounds,
  and the quartiles in brackets.
- *At least*: the aim that we set. One that was missed is marked; [what was not reached](limits.md) says what is known of the reasons.
- *ms*: milliseconds for a step, for a batch of input, or for a start: the medians of ours and of the other program.

Measured by `make bench`. Each program runs in a process of its own, and prepares. It then has to compute the same first losses as the others, from the same
weights, before turns are taken, in random order. TensorFlow runs with `tf_keras`, under `MirroredStrategy` on as many logical CPU devices, with `tf.function`; the
script is the same with either import line (`tests/benchmarks/programs`).

"""
_CHART = "![Times as fast, per workload](comparison.svg)\n\n"
_KINDS = {
    "Training steps": "Steps on one machine: custom loops, `Model.fit` and estimators. More networks: [models](#models). Those that are called untuned were written after the engine was "
    "made fast for the others.",
    "Input": "Pipelines of `tf.data` without a training step: from files or arrays to batches on devices.",
    "Several processes": "Workers that train together, each in a process of its own; and workers with parameter servers.",
    "Starts": "What a start takes, against another one: importing the front end against importing what it stands on, and the first "
    "step of a program that was started before against that of one that was not.",
}
_MODELS = """## Models

TensorFlow is tried with `tf_keras` and, for `Model.fit` on one device, with Keras 3; of each figure the better one counts. `Model.fit` on one device has no
strategy. Stock Keras on JAX runs the same script. Where a training step draws random numbers, as `Dropout` does, the losses that are compared are those of an
evaluation.

![Times as fast, per model](models.svg)

{steps}
### Start and memory

In bold how many times the other's figure ours is, so below 1 is better; in brackets ours and the other's.

- *First start*: seconds from the start of the process to the end of the first step, with nothing kept from an earlier run. *Second start*: those of the next run.
- *Memory*: the most that the process has had after all its turns.
- *At most*: the aims of the three figures. They are set against TensorFlow.

On one device. Starts are medians of three, in turns.

{starts}
"""


def read_rows(text: str) -> list[dict[str, object]]:
    """Reads the rows that a benchmark printed."""
    return json.loads(text)


def write(path: Path, name: str, machine: str, rows: Sequence[Row]) -> None:
    """Writes the rows of one benchmark, and what they were measured on."""
    result = {
        "benchmark": name,
        "machine": machine,
        "date": datetime.date.today().isoformat(),
        "rows": rows,
    }
    path.write_text(json.dumps(result, indent=2) + "\n")


def table(rows: Sequence[Row]) -> Table:
    """Makes a table for the terminal."""
    lines = _compared(rows) if "workload" in rows[0] else rows
    made = Table()
    columns = [column for column in lines[0] if column != "workload"]
    for column in columns:
        made.add_column(column)
    for line in lines:
        made.add_row(*(str(line[column]).replace("**", "") for column in columns))
    return made


def write_page(
    directory: Path,
    name: str,
    about: str | Callable[[Sequence[Row]], str] = "Measured by `make bench` on",
) -> None:
    """Writes the page of one benchmark from its JSON, if it is there.

    Args:
        directory: of both.
        name: of the benchmark.
        about: the page's first sentences, up to the machine; or what makes them from the rows.
    """
    path = directory / f"{name}.json"
    if not path.exists():
        return
    result = json.loads(path.read_text())
    begin = about if isinstance(about, str) else about(result["rows"])
    ratios = (
        " Each ratio is the median over rounds in which the programs take turns, so that a noisy machine slows all of them."
        if "ours / this" in result["rows"][0]
        else ""
    )
    title = name.replace("_", " ").capitalize().replace("Gpu", "GPU")
    has_chart = (directory / f"{name}.svg").exists()
    chart = f"![{title}]({name}.svg)\n\n" if has_chart else ""
    text = (
        f"# {title}\n\n{begin} {result['machine']}.{ratios}\n\n{chart}{_markdown(result['rows'])}"
    )
    (directory / f"{name}.md").write_text(text)


def write_comparison(directory: Path, names: Sequence[str]) -> None:
    """Writes the page and the charts of all comparisons whose JSON is there.

    Args:
        directory: where the JSON is, and where they go.
        names: of the benchmarks, in order.
    """
    paths = [path for name in names if (path := directory / f"{name}.json").exists()]
    results = [json.loads(path.read_text()) for path in paths]
    if not results:
        return
    by_kind: dict[str, list[Row]] = {kind: [] for kind in ("Training steps", "Models", *_KINDS)}
    for result in results:
        is_model = any("first_start" in row for row in result["rows"])
        for row in result["rows"]:
            kind = "Models" if is_model else _kind(result["benchmark"], row["workload"])
            by_kind[kind].append(row)
    charted = [row for kind in _KINDS for row in by_kind[kind]]
    parts = [_CHART] if charted else []
    for kind, rows in by_kind.items():
        if rows and kind == "Models":
            steps, starts = _comparisons(_compared(rows)), _comparisons(_starts(rows))
            parts.append(_MODELS.format(steps=steps, starts=starts))
            _draw(directory / "models.svg", rows)
        elif rows:
            parts.append(f"## {kind}\n\n{_KINDS[kind]}\n\n{_comparisons(_compared(rows))}\n")
    # No versions follow where there was no peer.
    machines = sorted({f"- {one['date']}: {one['machine'].rstrip('; ')}" for one in results})
    with_others = [row for kind, rows in by_kind.items() if kind != "Starts" for row in rows]
    cores = " and ".join(sorted({one["machine"].split(",")[0] for one in results}))
    head = _HEAD.format(summary=summarize(with_others, cores))
    text = [head, *parts, "Measured on\n\n", "\n".join(machines), "\n"]
    (directory / "comparison.md").write_text("".join(text))
    if charted:
        _draw(directory / "comparison.svg", charted)


def _kind(benchmark: str, workload: str) -> str:
    if benchmark in _STARTS:
        return "Starts"
    if workload.startswith(_INPUT):
        return "Input"
    return "Several processes" if _SEVERAL_PROCESSES.search(workload) else "Training steps"


def _compared(rows: Sequence[Row]) -> list[dict[str, object]]:
    """One line for each program that ours was compared with."""
    lines: list[dict[str, object]] = []
    for row in rows:
        _, milliseconds, _ = row["milliseconds"]
        if row["times as fast"] is None:
            ours = milliseconds
            continue
        low, median, high = row["times as fast"]
        target = "" if row["at least"] is None else f"{row['at least']}"
        if row["holds"] is False:
            target += " (missed)"
        cells = [row["workload"].removeprefix(_INPUT), row["devices"], row["program"]]
        quartiles = f"({_figure(low)} to {_figure(high)})"
        times = f"{_figure(ours, 3)} : {_figure(milliseconds, 3)}"
        cells += [f"**{_figure(median)}** {quartiles}".replace(" ", _BLANK), target]
        cells.append(times.replace(" ", _BLANK))
        lines.append(dict(zip(_COLUMNS, cells, strict=True)))
    return lines


def _starts(rows: Sequence[Row]) -> list[dict[str, object]]:
    """One line for each program whose starts and memory are known, besides ours."""
    columns = {"first_start": "first start, s", "second_start": "second start, s"}
    columns |= {"megabytes": "memory, MB"}
    lines: list[dict[str, object]] = []
    ours: Row = {}
    for row in rows:
        if row["times as fast"] is None:
            ours = row
        elif "first_start" in row:
            cells: dict[str, object] = {"workload": row["workload"], "against": row["program"]}
            limits = row.get("at most", [math.inf] * len(columns))
            for (key, title), limit in zip(columns.items(), limits, strict=True):
                times, digits = ours[key] / row[key], 0 if key == "megabytes" else 1
                figures = f"{ours[key]:,.{digits}f} : {row[key]:,.{digits}f}"
                missed = " (missed)" if times > limit else ""
                cells[title] = f"**{times:.2f}** ({figures})".replace(" ", _BLANK) + missed
            cells["at most"] = ", ".join(map(str, row.get("at most", ())))
            lines.append(cells)
    return lines


def _figure(value: float, decimals: int = 2) -> str:
    """Writes at most three digits: more were not measured."""
    return f"{value:,.{min(decimals, max(0, 2 - math.floor(math.log10(value))))}f}"


def _comparisons(rows: Sequence[Mapping[str, object]]) -> str:
    """Writes a table in which a workload is named once, and what was missed leads to the reason."""
    lines: list[dict[str, object]] = []
    for row, former in zip(rows, [None, *rows], strict=False):
        is_same = former is not None and former["workload"] == row["workload"]
        lines.append({**row, "workload": "" if is_same else row["workload"]})
    return _markdown(lines).replace("(missed)", "([missed](limits.md))")


def _markdown(rows: Sequence[Mapping[str, object]]) -> str:
    columns = list(rows[0])
    lines = [
        "| " + " | ".join(columns) + " |",
        "|" + "---|" * len(columns),
        *("| " + " | ".join(str(row[column]) for column in columns) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


@contextlib.contextmanager
def drawing(path: Path, size: tuple[float, float]) -> Iterator[Any]:
    """Makes an SVG of what is drawn in the block.

    Args:
        path: of the file.
        size: width and height, in inches.

    Yields:
        The axes of Matplotlib.
    """
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "jaxtribute"  # the same drawing is the same file
    figure, axes = pyplot.subplots(figsize=size, layout="constrained")
    yield axes
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


def _draw(path: Path, rows: Sequence[Row]) -> None:
    """Draws bars of how many times as fast ours is, with a mark where it was to be."""
    bars = [row for row in reversed(rows) if row["times as fast"] is not None]
    names = [
        f"{textwrap.shorten(row['workload'], 56, placeholder=' ...')}\n{row['devices']} device{'s' * (row['devices'] != 1)}, against {row['program']}"
        for row in bars
    ]
    medians = [row["times as fast"][1] for row in bars]
    spans = [
        [row["times as fast"][1] - row["times as fast"][0] for row in bars],
        [row["times as fast"][2] - row["times as fast"][1] for row in bars],
    ]
    with drawing(path, (9, 1 + 0.5 * len(bars))) as axes:
        axes.barh(
            names, medians, xerr=spans, color="#4c78a8", error_kw={"ecolor": "#555", "capsize": 3}
        )
        for position, row in enumerate(bars):
            axes.annotate(
                f"{medians[position]:.2g}",
                (row["times as fast"][2], position),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
            )
            if row["at least"] is not None:
                axes.vlines(
                    row["at least"], position - 0.4, position + 0.4, color="#e45756", linewidth=2
                )
        axes.axvline(1, color="#555", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_xticks([0.5, 1, 2, 5, 10, 20, 50], ["½", "1", "2", "5", "10", "20", "50"])
        axes.minorticks_off()
        axes.set_ylim(-0.6, len(bars) - 0.4)
        axes.set_xlabel("times as fast as the other (red: the aim)")
