"""Traced programs prepared for the devices that they are compiled for, and compiled programs kept on disk.

A *rewrite* is a function of JAX operations that computes what one slow operation computes. The shapes of the
operation decide whether it pays. `for_cpu` rewrites every step that is compiled for processors, unless
`JAXTRIBUTE_CPU_LOWERINGS=0` is set; programs for other devices stay as they are.
"""

from spmd.lowering.compilation_cache import enable_compilation_cache as enable_compilation_cache
from spmd.lowering.compilation_cache import keep_compiled_programs as keep_compiled_programs
from spmd.lowering.compiler_process import compiling as compiling
from spmd.lowering.compiler_process import expect_program as expect_program
from spmd.lowering.cpu import Thresholds as Thresholds
from spmd.lowering.cpu import for_cpu as for_cpu
from spmd.lowering.cpu import lowered as lowered
from spmd.lowering.draws import TRUNCATION as TRUNCATION
from spmd.lowering.draws import host_draw as host_draw
from spmd.lowering.draws import scaled as scaled
from spmd.lowering.draws import truncated_normal as truncated_normal
from spmd.lowering.libraries import library_options as library_options
from spmd.lowering.libraries import threads_of_device as threads_of_device
from spmd.lowering.memory import Workspace as Workspace
from spmd.lowering.memory import share_one_arena as share_one_arena
from spmd.lowering.memory import workspace_of as workspace_of
from spmd.lowering.recomputation import computed_once as computed_once
from spmd.lowering.row_access import CALLS as CALLS
from spmd.lowering.row_access import Lookup as Lookup
from spmd.lowering.row_access import RowProgram as RowProgram
from spmd.lowering.row_access import differentiable_by_rows as differentiable_by_rows
from spmd.lowering.row_access import find_tables as find_tables
from spmd.lowering.row_access import with_rows as with_rows
from spmd.lowering.single_replica import without_reductions as without_reductions
from spmd.lowering.substitution import Atom as Atom
from spmd.lowering.substitution import Substitution as Substitution
