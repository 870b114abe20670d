"""jaxtribute's engine: a Python function of one replica becomes one XLA program for all devices.

    import spmd

    mesh = spmd.make_mesh()             # devices, along the axis "replica"
    step = spmd.Step(train_step, mesh)  # one replica's function, for all
    for batch in spmd.distribute(data, mesh, batch_size=128):
        loss = step(batch)

Importing it starts no backend.
"""

from spmd.errors import (
    BatchError,
    ExportError,
    MeshError,
    PaddedBatchError,
    RecompilationWarning,
    ReplicaContextError,
    ReplicaDivergenceError,
    SpmdError,
    StateError,
    StepOutputError,
)
from spmd.input import DistributedInput, abstract_batch, distribute
from spmd.lowering import enable_compilation_cache
from spmd.replica import (
    PerReplica,
    RowMask,
    all_gather,
    all_reduce,
    average_loss,
    broadcast,
    in_replica,
    replica_id,
    sum_over_replicas,
    valid_rows,
)
from spmd.state import Variable
from spmd.step import (
    Compiled,
    CrossReplicaStep,
    Lowered,
    Step,
    StepCache,
    StepOptions,
    Traced,
    gather,
    lift,
    local_values,
    reduce,
    run,
)
from spmd.topology import make_mesh, num_replicas, simulate_devices
from spmd.verification import Verification, verify

__all__ = [
    "BatchError",
    "Compiled",
    "CrossReplicaStep",
    "DistributedInput",
    "ExportError",
    "Lowered",
    "MeshError",
    "PaddedBatchError",
    "PerReplica",
    "RecompilationWarning",
    "ReplicaContextError",
    "ReplicaDivergenceError",
    "RowMask",
    "SpmdError",
    "StateError",
    "Step",
    "StepCache",
    "StepOptions",
    "StepOutputError",
    "Traced",
    "Variable",
    "Verification",
    "abstract_batch",
    "all_gather",
    "all_reduce",
    "average_loss",
    "broadcast",
    "distribute",
    "enable_compilation_cache",
    "gather",
    "in_replica",
    "lift",
    "local_values",
    "make_mesh",
    "num_replicas",
    "reduce",
    "replica_id",
    "run",
    "simulate_devices",
    "sum_over_replicas",
    "valid_rows",
    "verify",
]
