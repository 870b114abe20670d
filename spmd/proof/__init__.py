"""Statements about a traced program, made without running it.

`varying` and `replicated_outputs` are for any function that `jax.shard_map` takes.
"""

from spmd.proof.checks import (
    check_local_state_fits,
    check_no_captured_variables,
    check_state_is_equal,
    check_state_is_there,
    check_state_keeps_shape,
    check_whole_results_are_equal,
    counted_padding_error,
    find_counted_padding,
)
from spmd.proof.dataflow import (
    Collective,
    collectives,
    depends_on,
    program_of_one,
    source_of,
    varying_outputs,
)
from spmd.proof.shard_map import Variation, replicated_outputs, varying

__all__ = [
    "Collective",
    "Variation",
    "check_local_state_fits",
    "check_no_captured_variables",
    "check_state_is_equal",
    "check_state_is_there",
    "check_state_keeps_shape",
    "check_whole_results_are_equal",
    "collectives",
    "counted_padding_error",
    "depends_on",
    "find_counted_padding",
    "program_of_one",
    "replicated_outputs",
    "source_of",
    "varying",
    "varying_outputs",
]
