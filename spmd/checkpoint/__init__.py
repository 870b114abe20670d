"""Checkpoints: the state of training on disk, and back onto any number of devices and processes.

checkpoint = Checkpoint(model=model, optimizer=optimizer, step=step, data=iterator)
manager = CheckpointManager(checkpoint, "runs/1", keep=KeepPolicy(last=3))
manager.restore_latest()
...
manager.save(step)
"""

from spmd.checkpoint.arrays import ArrayEntry
from spmd.checkpoint.checkpoint import Checkpoint
from spmd.checkpoint.errors import CheckpointError, CheckpointNotFoundError, DamagedCheckpointError
from spmd.checkpoint.layout import (
    checkpoint_folder,
    is_checkpoint,
    numbered_checkpoints,
    remove_checkpoint,
)
from spmd.checkpoint.manager import CheckpointManager, KeepPolicy, SavePolicy
from spmd.checkpoint.manifest import verify
from spmd.checkpoint.position import HasPosition
from spmd.checkpoint.preemption import PreemptionSync
from spmd.checkpoint.reading import list_arrays, read_array
from spmd.checkpoint.saving import remove_leftovers, wait_for_saves
from spmd.checkpoint.selection import DamagedCheckpointWarning, agree_on_checkpoint, newest_intact
from spmd.checkpoint.status import LoadStatus
from spmd.checkpoint.view import View, register_view, view_of_variable

__all__ = [
    "ArrayEntry",
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
    "SavePolicy",
    "View",
    "agree_on_checkpoint",
    "checkpoint_folder",
    "is_checkpoint",
    "list_arrays",
    "newest_intact",
    "numbered_checkpoints",
    "read_array",
    "register_view",
    "remove_checkpoint",
    "remove_leftovers",
    "verify",
    "view_of_variable",
    "wait_for_saves",
]
