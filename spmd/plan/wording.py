"""What the terminal and the page say in the same words."""

import os
from collections.abc import Iterator

from spmd.plan.collectives import Collective
from spmd.plan.report import Plan
from spmd.plan.units import format_bytes, format_rate, format_seconds, format_share

COMPILER = "XLA's figures"
MODEL = "our estimate"


def headline(plan: Plan) -> Iterator[str]:
    """Says what matters most, a sentence a line.

    Args:
        plan: of a step.
    """
    slices = f" in {plan.slices} slices" if plan.slices > 1 else ""
    batch = ""
    if plan.global_batch is not None and plan.rows is not None:
        batch = f", a batch of {plan.global_batch:,}"
        padded = round(plan.rows * plan.replicas)
        batch += f", padded to {padded:,}" if padded != plan.global_batch else ""
        batch += f": {plan.rows:g} rows for each of {plan.replicas:,} replicas"
    yield f"{plan.devices:,} x {plan.chip_title}{slices}{batch}."
    compiled = f"It compiles: XLA took {format_seconds(plan.seconds.get('compile', 0.0))} (jax {plan.jax_version})"
    if plan.fits is None:
        yield f"{compiled}, and needs {format_bytes(plan.memory.total)} on each device."
    else:
        assert plan.memory_limit is not None
        verb = "fits" if plan.fits else "does NOT fit"
        yield (
            f"{compiled}. It {verb}: {format_bytes(plan.memory.total)} of {format_bytes(plan.memory_limit)} on each chip."
        )
    if plan.estimate is not None:
        found = plan.estimate
        rate = ""
        if plan.global_batch:
            rate = f", at most {format_rate(plan.global_batch / found.step_seconds, '')} rows"
            rate = rate.replace("/s rows", " rows/s")
        yield (
            f"A step takes at least {format_seconds(found.step_seconds)} by our estimate{rate}; bound by "
            f"{found.bound}; MFU at most {format_share(found.mfu)}."
        )


def time_parts(plan: Plan) -> list[tuple[str, float]]:
    """Lists what a step spends its time on: name and seconds.

    Args:
        plan: with an estimate, or the list is empty.
    """
    found = plan.estimate
    if found is None:
        return []
    return [
        ("compute", found.compute_seconds),
        ("HBM", found.memory_seconds),
        ("interconnect, overlapped", found.overlapped_seconds),
        ("interconnect, waited for", found.exposed_seconds),
    ]


def group_text(collective: Collective) -> str:
    """Says which devices take part.

    Args:
        collective: of a plan.
    """
    several = f"{collective.groups} x " if collective.groups > 1 else ""
    between = ", over slices" if collective.across_slices else ""
    return f"{several}{collective.group_size}{between}"


def short_line(line: str | None) -> str:
    """Writes a source line with a path from the working directory, if it is below it.

    Args:
        line: as in a plan.

    Examples:
        >>> short_line("near train.py:12"), short_line(None)
        ('near train.py:12', '-')
    """
    if line is None:
        return "-"
    near = "near " if line.startswith("near ") else ""
    path = line.removeprefix("near ")
    return near + path.removeprefix(os.getcwd() + os.sep)
