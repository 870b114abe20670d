"""What benchmarks measured, as JSON, Markdown and a chart."""

import datetime
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table

Row = Mapping[str, object]

_COLUMNS = ["workload", "devices", "against", "ours, ms", "theirs, ms", "times as fast", "at least"]
_MODELS = """
## Models

TensorFlow is tried with `tf_keras` and, for `Model.fit` on one device, with Keras 3; of each figure the better one counts. `Model.fit` on one device has no strategy. Stock Keras on JAX runs the same
script. Where a training step draws random numbers, as `Dropout` does, the losses that are compared are those of an evaluation.

![Times as fast, per model](models.svg)

{steps}
### Start and memory

Seconds from the start of the process to the end of the first step, with nothing kept from an earlier run, and of the next run; and the most
memory that the process has had after all its turns, on one device. Each start is measured once, so a busy machine shows in it. Ours, theirs, and how many times theirs ours is.

{starts}"""


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


def write_page(directory: Path, name: str) -> None:
    """Writes the page of one benchmark from its JSON, if it is there."""
    path = directory / f"{name}.json"
    if not path.exists():
        return
    result = json.loads(path.read_text())
    ratios = (
        " Each ratio is the median over rounds in which the programs take turns, so that a noisy machine slows all of them."
        if "ours / this" in result["rows"][0]
        else ""
    )
    text = (
        f"# {name.replace('_', ' ').capitalize()}\n\nMeasured by `make bench` on {result['machine']}.{ratios}\n\n"
        f"{_markdown(result['rows'])}"
    )
    (directory / f"{name}.md").write_text(text)


def write_comparison(directory: Path, names: Sequence[str]) -> None:
    """Writes the page and the chart of all comparisons whose JSON is there.

    Args:
        directory: where the JSON is, and where they go.
        names: of the benchmarks, in order.
    """
    paths = [path for name in names if (path := directory / f"{name}.json").exists()]
    results = [json.loads(path.read_text()) for path in paths]
    if not results:
        return
    rows = [row for result in results for row in result["rows"]]
    of_models = {row["workload"] for row in rows if "first_start" in row}
    models = [row for row in rows if row["workload"] in of_models]
    others = [row for row in rows if row["workload"] not in of_models]
    machines = sorted({f"- {result['date']}: {result['machine']}" for result in results})
    text = (
        "# Against TensorFlow, Keras, PyTorch and hand-written JAX\n\n"
        "Measured by `make bench`. Each program runs in a process of its own, prepares, checks that it "
        "computes the same first losses as the others from the same weights, and then takes turns with them "
        "in random order. *Times as fast* compares turns of the same round: the median, and the quartiles in "
        "brackets. Times are medians in milliseconds a step. TensorFlow runs with `tf_keras`, under "
        "`MirroredStrategy` on as many logical CPU devices, with `tf.function`; the script is the "
        "same with either import line (`tests/benchmarks/programs`).\n\n"
        "![Times as fast, per workload](comparison.svg)\n\n"
        + (_markdown(_compared(others)) if others else "")
        + (
            _MODELS.format(steps=_markdown(_compared(models)), starts=_markdown(_starts(models)))
            if models
            else ""
        )
        + "\nMeasured on\n\n"
    )
    (directory / "comparison.md").write_text(text + "\n".join(machines) + "\n")
    _draw(directory / "comparison.svg", others)
    if models:
        _draw(directory / "models.svg", models)


def _compared(rows: Sequence[Row]) -> list[dict[str, object]]:
    """One line for each program that ours was compared with."""
    lines: list[dict[str, object]] = []
    for row in rows:
        _, milliseconds, _ = row["milliseconds"]
        if row["times as fast"] is None:
            ours = milliseconds
            continue
        low, median, high = row["times as fast"]
        target = (
            ""
            if row["at least"] is None
            else f"{row['at least']} {'' if row['holds'] else '(missed)'}"
        )
        cells = [row["workload"], row["devices"], row["program"], ours, milliseconds]
        cells += [f"**{median:.2f}** ({low:.2f} to {high:.2f})", target.strip()]
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
            cells: dict[str, object] = {
                "workload": row["workload"],
                "against": row["program"],
                "at most": ", ".join(map(str, row.get("at most", ()))),
            }
            limits = row.get("at most", [math.inf] * len(columns))
            for (key, title), limit in zip(columns.items(), limits, strict=True):
                times, digits = ours[key] / row[key], 0 if key == "megabytes" else 1
                cells[title] = f"{ours[key]:,.{digits}f}, {row[key]:,.{digits}f}: **{times:.2f}**"
                cells[title] += " (missed)" * (times > limit)
            lines.append(cells)
    return lines


def _markdown(rows: Sequence[Row]) -> str:
    columns = list(rows[0])
    lines = [
        "| " + " | ".join(columns) + " |",
        "|" + "---|" * len(columns),
        *("| " + " | ".join(str(row[column]) for column in columns) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def _draw(path: Path, rows: Sequence[Row]) -> None:
    """Draws bars of how many times as fast ours is, with a mark where it was to be."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "jaxtribute"  # the same drawing is the same file
    bars = [row for row in reversed(rows) if row["times as fast"] is not None]
    names = [
        f"{row['workload']}\n{row['devices']} device{'s' * (row['devices'] != 1)}, against {row['program']}"
        for row in bars
    ]
    figure, axes = pyplot.subplots(figsize=(11, 1 + 0.55 * len(bars)), layout="constrained")
    medians = [row["times as fast"][1] for row in bars]
    spans = [
        [row["times as fast"][1] - row["times as fast"][0] for row in bars],
        [row["times as fast"][2] - row["times as fast"][1] for row in bars],
    ]
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
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
