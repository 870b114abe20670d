"""Better forms, on a processor, of operations for which XLA makes slow code.

A *form* is a function of JAX operations that computes what one operation computes. A *rule* looks at the
shapes of an operation and chooses a form, or none where XLA's own code is as good. `for_cpu` puts the forms
into a traced program. It runs on every step that is compiled for processors, unless
`JAXTRIBUTE_CPU_LOWERINGS=0` stands in the environment; programs for other devices stay as they are.
"""

from spmd.lowering.compilation_cache import enable_compilation_cache, keep_compiled_programs
from spmd.lowering.cpu import Least, for_cpu, lowered
from spmd.lowering.memory import share_one_arena
from spmd.lowering.single_replica import without_reductions

__all__ = [
    "Least",
    "enable_compilation_cache",
    "for_cpu",
    "keep_compiled_programs",
    "lowered",
    "share_one_arena",
    "without_reductions",
]
