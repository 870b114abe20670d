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
`spmd.export` and `spmd.integrations`. Importing `spmd` starts no backend.
"""

from spmd import errors as errors
from spmd import input as input
from spmd import lowering as lowering
from spmd import proof as proof
from spmd import replica as replica
from spmd import state as state
from spmd import step as step
from spmd import topology as topology
from spmd import verification as verification
from spmd.input import distribute as distribute
from spmd.replica import PerReplica as PerReplica
from spmd.replica import all_reduce as all_reduce
from spmd.replica import average_loss as average_loss
from spmd.replica import replica_id as replica_id
from spmd.replica import sum_over_replicas as sum_over_replicas
from spmd.replica import valid_rows as valid_rows
from spmd.state import Variable as Variable
from spmd.step import Step as Step
from spmd.step import StepOptions as StepOptions
from spmd.step import gather as gather
from spmd.step import lift as lift
from spmd.step import reduce as reduce
from spmd.step import run as run
from spmd.topology import make_mesh as make_mesh
from spmd.topology import simulate_devices as simulate_devices
from spmd.verification import verify as verify
