"""Checkpoints: the state of training on disk, and back onto any number of devices and processes.

checkpoint = Checkpoint(model=model, optimizer=optimizer, step=step, data=iterator)
manager = CheckpointManager(checkpoint, "runs/1", keep=3)
manager.restore_latest()
...
manager.save(step)
"""

from spmd.checkpoint.checkpoint import Checkpoint
from spmd.checkpoint.errors import (
    CheckpointError,
    CheckpointNotFoundError,
    DamagedCheckpointError,
)
from spmd.checkpoint.manager import CheckpointManager, KeepPolicy, SavePolicy
from spmd.checkpoint.manifest import is_checkpoint, verify
from spmd.checkpoint.position import HasPosition
from spmd.checkpoint.preemption import PreemptionSync
from spmd.checkpoint.selection import DamagedCheckpointWarning
from spmd.checkpoint.status import LoadStatus, RestoreStatus

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "CheckpointManager",
    "CheckpointNotFoundError",
    "DamagedCheckpointError",
    "DamagedCheckpointWarning",
    "HasPosition",
    "KeepPolicy",
    "LoadStatus",
    "PreemptionSync",
    "RestoreStatus",
    "SavePolicy",
    "is_checkpoint",
    "verify",
]
