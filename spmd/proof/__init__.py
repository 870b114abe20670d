"""Statements about a traced program, made without running it.

`varying` and `replicated_outputs` are for any function that `jax.shard_map` takes.
"""

from spmd.proof.checks import check_local_state_fits as check_local_state_fits
from spmd.proof.checks import check_no_captured_variables as check_no_captured_variables
from spmd.proof.checks import check_no_leaked_values as check_no_leaked_values
from spmd.proof.checks import check_state_is_equal as check_state_is_equal
from spmd.proof.checks import check_state_is_there as check_state_is_there
from spmd.proof.checks import check_state_keeps_shape as check_state_keeps_shape
from spmd.proof.checks import check_whole_results_are_equal as check_whole_results_are_equal
from spmd.proof.checks import counted_padding_error as counted_padding_error
from spmd.proof.checks import counted_rows_error as counted_rows_error
from spmd.proof.checks import diverged_error as diverged_error
from spmd.proof.checks import find_counted_padding as find_counted_padding
from spmd.proof.checks import gathered_padding_error as gathered_padding_error
from spmd.proof.checks import leaked_value_error as leaked_value_error
from spmd.proof.dataflow import Collective as Collective
from spmd.proof.dataflow import asks_the_host as asks_the_host
from spmd.proof.dataflow import calls_the_host as calls_the_host
from spmd.proof.dataflow import collectives as collectives
from spmd.proof.dataflow import depends_on as depends_on
from spmd.proof.dataflow import depends_on_in as depends_on_in
from spmd.proof.dataflow import names_axis as names_axis
from spmd.proof.dataflow import per_device_program as per_device_program
from spmd.proof.dataflow import scan_counts as scan_counts
from spmd.proof.dataflow import source_of as source_of
from spmd.proof.dataflow import varying_outputs as varying_outputs
from spmd.proof.row_counts import counting_outputs as counting_outputs
from spmd.proof.row_counts import unlike_sizes as unlike_sizes
from spmd.proof.same import same_operation as same_operation
from spmd.proof.shard_map import Variation as Variation
from spmd.proof.shard_map import replicated_outputs as replicated_outputs
from spmd.proof.shard_map import varying as varying
