"""The subcommand `jaxtribute plan`: parses its options, compiles, and shows what came out."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from spmd.errors import PlanError
from spmd.plan.facts import StepFacts
from spmd.plan.page import plan_page
from spmd.plan.process import compile_step
from spmd.plan.report import Plan, make_plan
from spmd.plan.request import Request, filled_in
from spmd.plan.terminal import print_plan

_USAGE = "jaxtribute plan TARGET --topology T [options] [-- ARGUMENT ...]"
_EXAMPLES = """\
examples:
  would this script's training step fit 256 TPU chips, and what would it cost?
    jaxtribute plan train.py --topology v5e:16x16

  a script that takes the number of devices and the batch as arguments, for several topologies:
    jaxtribute plan train.py --sweep v6e:2x2,v6e:4x4,v6e:8x8 \\
      -- --devices {devices} --batch-size 1024

  for several batches, each compiled; as a page for a browser:
    jaxtribute plan train.py --topology h100:8 --batch 512,1024 --html plan.html \\
      -- --batch-size {batch}

  a function that returns a step and its arguments:
    jaxtribute plan my_package.train:make_step --topology v5p:2x2x2

The script runs here, as it is, up to its first training step: it reads its data and makes its model, on simulated
devices. The step itself is compiled for the topology, and not run. What the script prints goes to standard error.

TPUs need the extra tpu-plan, GPUs gpu-plan: pip install 'jaxtribute[tpu-plan,gpu-plan]'. Neither needs hardware.

The exit status is 0 if all was compiled, and 2 otherwise.
"""


def plan(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Compile a training step for TPUs or GPUs that are not here: memory, communication, time.

    Args:
        parser: the parser of this subcommand; its arguments are added here.

    Returns:
        A function that plans, and returns the exit status.
    """
    parser.usage = _USAGE
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="a script, or a function: module:function, file.py:function",
    )
    parser.add_argument(
        "--topology", metavar="T", help="such as v5e:16x16, 2xv5e:16x16, h100:8, cpu:8"
    )
    parser.add_argument(
        "--sweep", type=_words, default=[], metavar="T,T", help="several topologies, compared"
    )
    parser.add_argument(
        "--batch",
        type=_words,
        default=[],
        metavar="B,B",
        help="in the place of {batch} in the arguments",
    )
    parser.add_argument(
        "--step",
        default="",
        metavar="NAME",
        help="the step's function (default: the first that trains)",
    )
    parser.add_argument(
        "--full", action="store_true", help="compile large programs as a run does; takes minutes"
    )
    parser.add_argument(
        "--json", metavar="FILE", help="write everything as JSON; - is standard output"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page for a browser")

    def run(options: argparse.Namespace) -> int:
        try:
            return _run(options)
        except PlanError as error:
            print(f"jaxtribute plan: {error}", file=sys.stderr)
            return 2

    return run


# The room's face has another `plan`.
plan_command = plan


def _run(options: argparse.Namespace) -> int:
    first, *others = requests(options)
    found = compile_step(first)
    more: list[StepFacts] = []
    failed = 0
    for request in others:
        try:
            more.append(compile_step(request))
        except PlanError as error:
            failed += 1
            print(f"jaxtribute plan: {request.topology} is left out: {error}", file=sys.stderr)
    _show(make_plan(found, more), options)
    return 2 if failed else 0


def requests(options: argparse.Namespace) -> list[Request]:
    """Lists what there is to compile: every topology with every batch.

    Args:
        options: as `plan` parses them.

    Raises:
        PlanError: there is no topology, or no place for the batch.
    """
    names = [*([options.topology] if options.topology else []), *options.sweep]
    if not names:
        raise PlanError(
            "Name what to compile for: --topology v5e:16x16, or --sweep v5e:4x4,v5e:8x8."
        )
    if options.batch and not any("{batch}" in word for word in options.arguments):
        raise PlanError(
            "--batch needs a place among the script's arguments: write {batch} where the number goes, as in "
            "`-- --batch-size {batch}`."
        )
    found = list(dict.fromkeys(names))
    return [
        Request(
            options.target,
            name,
            filled_in(options.arguments, name, batch),
            options.step,
            options.full,
        )
        for name in found
        for batch in options.batch or [""]
    ]


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _show(found: Plan, options: argparse.Namespace) -> None:
    if options.html:
        options.html.write_text(plan_page(found), encoding="utf-8")
    if options.json == "-":
        print(found.to_json())
        return
    if options.json:
        Path(options.json).write_text(found.to_json())
    print_plan(found, Console(highlight=False))
