"""Runs every benchmark in a process of its own, and writes what it measured into docs/benchmarks."""

import argparse
import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
RUNS = {
    "step_overhead": ["1", "2"],
    "tape_overhead": ["2"],
    "fit_overhead": ["1", "2"],
    "checkpoint_stall": ["1", "2"],
}


def main() -> None:
    """Runs the benchmarks and writes a table of each, as JSON and as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "benchmarks")
    arguments = parser.parse_args()
    machine = (
        f"{os.cpu_count()} CPU cores ({platform.machine()}), Python {platform.python_version()}, "
        f"jax {version('jax')}, flax {version('flax')}, keras {version('keras')}"
    )
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, variants in RUNS.items():
        rows = [row for variant in variants for row in _run(name, variant)]
        result = {"benchmark": name, "machine": machine, "rows": rows}
        (arguments.output / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n")
        (arguments.output / f"{name}.md").write_text(_markdown(name, machine, rows))
        _show(name, rows)
    Console().print(f"Measured on {machine}; written to {arguments.output}")


def _run(name: str, variant: str) -> list[dict[str, str]]:
    """Runs one variant in a fresh process, because device counts are fixed per process."""
    command = [sys.executable, "-m", f"tests.benchmarks.{name}", variant]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _markdown(name: str, machine: str, rows: list[dict[str, str]]) -> str:
    columns = list(rows[0])
    lines = [
        f"# {name.replace('_', ' ').capitalize()}",
        "",
        f"Measured by `make bench` on {machine}. Each ratio is the median over rounds in which the "
        "programs take turns, so that a noisy machine slows all of them.",
        "",
        "| " + " | ".join(columns) + " |",
        "|" + "---|" * len(columns),
        *("| " + " | ".join(row[column] for column in columns) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def _show(name: str, rows: list[dict[str, str]]) -> None:
    table = Table(title=name)
    for column in rows[0]:
        table.add_column(column)
    for row in rows:
        table.add_row(*row.values())
    Console().print(table)


if __name__ == "__main__":
    main()
