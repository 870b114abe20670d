"""A Python function of one replica becomes a compiled program for all of them."""

from spmd.step.between import (
    check_axis,
    gather,
    local_values,
    reduce,
    run,
)
from spmd.step.loop import (
    Repetition,
    are_alike,
    for_each,
)
from spmd.step.program import Program
from spmd.step.state_views import fold_key, run_in_replicas
from spmd.step.step import (
    NO_SHORTCUT,
    Step,
    StepOptions,
)

__all__ = [
    "NO_SHORTCUT",
    "Program",
    "Repetition",
    "Step",
    "StepOptions",
    "are_alike",
    "check_axis",
    "fold_key",
    "for_each",
    "gather",
    "local_values",
    "reduce",
    "run",
    "run_in_replicas",
]
