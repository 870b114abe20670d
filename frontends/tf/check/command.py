"""The subcommand `jaxtribute check`: parses its options and acts on them."""

import argparse
import gc
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from frontends.tf.check import copies
from frontends.tf.check.output import as_github, as_json, print_report, print_summary
from frontends.tf.check.projects import in_versions_of_their_projects
from frontends.tf.check.report import Report, report_on
from frontends.tf.check.sources import files_in
from frontends.tf.check.summary import summarize

_EXAMPLES = """\
examples:
  what a script will find here:
    jaxtribute check train.py

  the script with its import lines changed, beside it as train_jaxtribute.py:
    jaxtribute check --fix train.py

  a whole project that runs, as my_project_jaxtribute beside it:
    jaxtribute check --fix my_project

  all scripts and notebooks of a project, changed where they are:
    jaxtribute check --fix --in-place .

  notes in a pull request, from a job on GitHub:
    jaxtribute check --format github .

Nothing of a script is run. What only running shows stays unknown: names that
are made up at run time, and methods of what a function was given.

The exit status is 0 if all names are found, 1 if some are missing or a file
cannot be read, and 2 if nothing could be checked, or a copy could not be written
because another file of its name is there.
"""


def check(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Read TensorFlow scripts and notebooks, and say which names work here, differ or are missing.

    Args:
        parser: the parser of this subcommand; its arguments are added here.

    Returns:
        A function that checks, prints, and returns the exit status.
    """
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="scripts, notebooks and folders of them"
    )
    parser.add_argument(
        "--format", choices=("table", "json", "github"), default="table", help="default: table"
    )
    parser.add_argument(
        "--summary", action="store_true", help="print only the counts over all files"
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="write a copy with the import lines changed: NAME_jaxtribute.py, of a folder NAME_jaxtribute",
    )
    parser.add_argument(
        "--in-place", action="store_true", help="with --fix: change the files themselves"
    )
    parser.add_argument(
        "--force", action="store_true", help="with --fix: replace copies that are there already"
    )

    def run(options: argparse.Namespace) -> int:
        problem = _problem(options)
        if problem:
            print(f"jaxtribute check: {problem}", file=sys.stderr)
            return 2
        console = Console(highlight=False)
        gc.freeze()  # what importing made would be looked through again and again
        reports = in_versions_of_their_projects([*map(report_on, files_in(options.paths))])
        gc.unfreeze()
        for report in reports:
            is_shown = report.is_tensorflow or report.path in options.paths
            if is_shown and options.format == "table" and not options.summary:
                print_report(report, console)
        if not reports:
            print("jaxtribute check: no .py and no .ipynb file there", file=sys.stderr)
            return 2
        summary = summarize(reports)
        if options.format == "json":
            print(as_json(reports, summary))
        elif options.format == "github":
            print(as_github(reports))
        elif len(reports) > 1 or options.summary:
            print_summary(summary, console)
        if options.fix:
            return max(_write(options, reports), 0 if summary.runs else 1)
        return 0 if summary.runs else 1

    return run


def _problem(options: argparse.Namespace) -> str:
    if options.in_place and not options.fix:
        return "--in-place goes with --fix"
    if options.force and (options.in_place or not options.fix):
        return "--force goes with --fix that writes copies"
    absent = [str(path) for path in options.paths if not path.exists()]
    if absent:
        return f"there is no {', '.join(absent)}"
    if options.fix and not options.in_place:
        return next(filter(None, map(copies.problem_with, options.paths)), "")
    return ""


def _write(options: argparse.Namespace, reports: Sequence[Report]) -> int:
    """Writes the changed files; returns 2 if a file that stands there already would be lost without `--force`."""
    if options.in_place:
        return copies.write_in_place(reports)
    by_path = {report.path: report for report in reports}
    return max(
        copies.write_project(path, by_path, options.force)
        if path.is_dir()
        else copies.write_script(by_path[path], options.force)
        for path in options.paths
    )
