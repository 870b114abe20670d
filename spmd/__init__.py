"""jaxtribute's engine: a Python function of one replica becomes one XLA program for all devices.

    import spmd

    mesh = spmd.make_mesh()             # devices, along the axis "replica"
    step = spmd.Step(train_step, mesh)  # one replica's function, for all
    for batch in spmd.distribute(data, mesh, batch_size=128):
        loss = step(batch)

A *replica* is one position along the mesh axis `"replica"`; it sees its own *block* of each *global batch*. A
*step* is written for one replica, and a *program* is a step compiled for one set of shapes. Its *state* are the
variables that it reads and writes: *mirrored* ones are equal on every replica, *per-replica* values need not be.
*Padding* fills up a partial batch, and a *mask* tells which rows are valid.

Here are the names that a training script needs. The others are in the rooms of the engine: `spmd.errors`,
`spmd.input`, `spmd.replica`, `spmd.step`, `spmd.topology`, `spmd.proof`, `spmd.checkpoint`, `spmd.cluster`,
`spmd.export` and `spmd.integrations`. Importing `spmd` starts no backend. On processors it has all threads of the process
share one heap of the C library, unless JAXTRIBUTE_KEEP_MEMORY=0 stands in the environment.
"""

from spmd import errors, input, lowering, proof, replica, state, step, topology, verification
from spmd.input import distribute
from spmd.replica import (
    PerReplica,
    all_reduce,
    average_loss,
    replica_id,
    sum_over_replicas,
    valid_rows,
)
from spmd.state import Variable
from spmd.step import Step, StepOptions, gather, lift, reduce, run
from spmd.topology import make_mesh, simulate_devices
from spmd.verification import verify

__all__ = [
    "PerReplica",
    "Step",
    "StepOptions",
    "Variable",
    "all_reduce",
    "average_loss",
    "distribute",
    "errors",
    "gather",
    "input",
    "lift",
    "lowering",
    "make_mesh",
    "proof",
    "reduce",
    "replica",
    "replica_id",
    "run",
    "simulate_devices",
    "state",
    "step",
    "sum_over_replicas",
    "topology",
    "valid_rows",
    "verification",
    "verify",
]
