"""Better forms, on a processor, of operations for which XLA makes slow code.

A *form* is a function of JAX operations that computes what one operation computes. A *rule* looks at the
shapes of an operation and chooses a form, or none where XLA's own code is as good. `for_cpu` puts the forms
into a traced program. It runs on every step that is compiled for processors, unless
`JAXTRIBUTE_CPU_LOWERINGS=0` stands in the environment; programs for other devices stay as they are.
"""

from spmd.lowering.cpu import Least as Least
from spmd.lowering.cpu import for_cpu as for_cpu
from spmd.lowering.cpu import lowered as lowered
from spmd.lowering.memory import share_one_arena as share_one_arena
