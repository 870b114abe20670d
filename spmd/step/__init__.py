"""A Python function of one replica becomes a compiled program for all of them."""

from spmd.step.between import check_axis, gather, local_values, reduce, run
from spmd.step.cache import StepCache
from spmd.step.function_key import Inlined, function_key
from spmd.step.lift import PureFunction, lift
from spmd.step.loop import Repetition, are_alike, for_each
from spmd.step.options import StepOptions
from spmd.step.runner import NO_SHORTCUT
from spmd.step.stages import Compiled, Lowered, Traced
from spmd.step.state_views import fold_key, run_in_replicas
from spmd.step.step import CrossReplicaStep, Step

__all__ = [
    "NO_SHORTCUT",
    "Compiled",
    "CrossReplicaStep",
    "Inlined",
    "Lowered",
    "PureFunction",
    "Repetition",
    "Step",
    "StepCache",
    "StepOptions",
    "Traced",
    "are_alike",
    "check_axis",
    "fold_key",
    "for_each",
    "function_key",
    "gather",
    "lift",
    "local_values",
    "reduce",
    "run",
    "run_in_replicas",
]
