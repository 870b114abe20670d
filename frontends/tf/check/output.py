"""Reports as people read them, as JSON, and as notes beside the lines of a pull request."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from frontends.tf.check.findings import FAILING, Finding, Kind
from frontends.tf.check.report import Report
from frontends.tf.check.summary import Summary

_STYLES = {
    Kind.UNREADABLE: "bold red",
    Kind.MISSING: "bold red",
    Kind.OPTIONAL: "red",
    Kind.CHANGE: "green",
    Kind.DIFFERS: "yellow",
    Kind.NO_EFFECT: "dim",
    Kind.CARE: "cyan",
}
_GITHUB = {Kind.UNREADABLE: "error", Kind.MISSING: "error", Kind.CHANGE: "notice"}
_LISTED_LINES, _LISTED_NAMES = 4, 12


def print_report(report: Report, console: Console) -> None:
    """Prints what there is to say about a file.

    Args:
        report: on the file.
        console: where to.
    """
    _print(Text(f"{report.path}  ", "bold").append(_counts(report), "not bold"), console)
    table = Table(show_header=False, box=None, pad_edge=False, padding=(0, 1))
    table.add_column(justify="right", max_width=14)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for (kind, name, text), lines in _grouped(report.findings).items():
        what = Text(name)
        said = f"-> {text}" if kind == Kind.CHANGE else _without_name(text, name)
        what.append(f"\n{said}" if name else said, "" if kind == Kind.CHANGE else "dim")
        table.add_row(_lines(report, lines), Text(kind.value, _STYLES[kind]), what)
    if report.version.because:
        _print(Text(f"for TensorFlow 1: {report.version.because}", "dim"), console)
    if table.row_count:
        _print(table, console)


def print_summary(summary: Summary, console: Console) -> None:
    """Prints the counts over all files, and which names are missed most.

    Args:
        summary: of all reports.
        console: where to.
    """
    using = summary.files - summary.others
    if not using:
        _print(Text("No file there uses TensorFlow."), console)
        return
    text = Text(f"{using} file{'s' * (using != 1)} with TensorFlow", "bold")
    text.append(
        f": {summary.complete} find all names, {using - summary.complete} do not", "not bold"
    )
    if summary.unreadable:
        text.append(f" ({summary.unreadable} cannot be read)", "not bold")
    if summary.uses:
        share = 100 * summary.present / summary.uses
        text.append(f". {summary.present} of {summary.uses} uses work ({share:.1f} %)", "not bold")
    _print(text.append(".", "not bold"), console)
    if using > 1 and summary.missing:
        shown = list(summary.missing.items())[:_LISTED_NAMES]
        rest = len(summary.missing) - len(shown)
        names = ", ".join(f"{name} ({count})" for name, count in shown)
        more = f", and {rest} more" if rest else ""
        _print(Text(f"Missing, and in how many files: {names}{more}."), console)


def as_json(reports: Iterable[Report], summary: Summary) -> str:
    """Writes reports as JSON.

    Args:
        reports: on all files.
        summary: of them.
    """
    files = [
        {
            "path": str(report.path),
            "complete": report.runs,
            "tensorflow": {
                "version": 1 if report.version.is_1 else 2,
                "because": report.version.because,
            },
            "names": dict(report.names),
            "findings": [_entry(report, one) for one in report.findings],
        }
        for report in reports
        if report.is_tensorflow
    ]
    counts = {
        "files": summary.files - summary.others,
        "complete": summary.complete,
        "unreadable": summary.unreadable,
        "uses": summary.uses,
        "present": summary.present,
        "missing": summary.missing,
    }
    return json.dumps({"summary": counts, "files": files}, indent=2, ensure_ascii=False)


def as_github(reports: Iterable[Report]) -> str:
    """Writes reports as commands of GitHub's workflows, which show them beside the lines.

    Args:
        reports: on all files.

    Examples:
        >>> from pathlib import Path
        >>> finding = Finding(Kind.MISSING, 3, "tf.foo", "It is not here.")
        >>> print(as_github([Report(Path("a.py"), findings=(finding,))]))
        ::error file=a.py,line=3,title=missing::tf.foo: It is not here.
    """
    return "\n".join(
        f"::{_GITHUB.get(one.kind, 'warning')} file={_property(str(report.path))},line={one.line},"
        f"title={one.kind.value}::{_data(f'{one.name}: {one.text}' if one.name else one.text)}"
        for report in reports
        for one in report.findings
    )


def _entry(report: Report, finding: Finding) -> dict[str, Any]:
    line: dict[str, int] = {"line": finding.line}
    if report.source is not None and report.source.cells:
        cell, inner = report.source.cells[finding.line - 1]
        line = {"cell": cell, "line": inner}
    return {"kind": finding.kind.value, **line, "name": finding.name, "text": finding.text}


def _print(what: Text | Table, console: Console) -> None:
    """Prints without the blanks that fill lines, which diffs and logs would show."""
    with console.capture() as captured:
        console.print(what)
    text = captured.get()
    if not console.is_terminal:
        text = re.sub(" +$", "", text, flags=re.MULTILINE)
    console.file.write(text)


def _counts(report: Report) -> str:
    if any(one.kind == Kind.UNREADABLE for one in report.findings):
        return "cannot be read"
    if not report.is_tensorflow:
        return "does not use TensorFlow"
    missing = report.names_with(Kind.MISSING)
    optional = report.names_with(Kind.OPTIONAL) - missing
    differing = report.names_with(Kind.DIFFERS) - missing
    total = len(report.names)
    parts = [f"{total - len(missing) - len(optional) - len(differing)} work"]
    parts += [f"{len(differing)} differ{'s' * (len(differing) == 1)}"] * bool(differing)
    parts += [f"{len(missing)} missing"] * bool(missing)
    parts += [f"{len(optional)} missing and optional"] * bool(optional)
    return f"{total} name{'s' * (total != 1)}: {', '.join(parts)}"


def _grouped(findings: Iterable[Finding]) -> dict[tuple[Kind, str, str], list[int]]:
    """Groups findings that say the same, and puts first what a script fails at."""
    groups: dict[tuple[Kind, str, str], list[int]] = {}
    for one in sorted(findings, key=lambda one: one.kind not in FAILING):
        groups.setdefault((one.kind, one.name, one.text), []).append(one.line)
    return groups


def _lines(report: Report, lines: Sequence[int]) -> str:
    places = list(dict.fromkeys(report.place(line) for line in lines))
    more = len(places) - _LISTED_LINES
    return ", ".join(places[:_LISTED_LINES]) + (f" and {more} more" if more > 0 else "")


def _without_name(text: str, name: str) -> str:
    return text.removeprefix(f"{name} is not part of jaxtribute. ").removeprefix(f"{name} is ")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
