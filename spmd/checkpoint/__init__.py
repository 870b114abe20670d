"""Checkpoints: the state of training on disk, and back onto any number of devices and processes.

checkpoint = Checkpoint(model=model, optimizer=optimizer, step=step, data=iterator)
manager = CheckpointManager(checkpoint, "runs/1", keep=3)
manager.restore_latest()
...
manager.save(step)
"""

from spmd.checkpoint.arrays import read
from spmd.checkpoint.checkpoint import Checkpoint
from spmd.checkpoint.errors import (
    CheckpointError,
    CheckpointNotFoundError,
    DamagedCheckpointError,
)
from spmd.checkpoint.graph import Entry
from spmd.checkpoint.manager import CheckpointManager, KeepPolicy, SavePolicy
from spmd.checkpoint.manifest import (
    ARRAYS,
    folder_of,
    is_checkpoint,
    read_manifest,
    remove,
    verify,
)
from spmd.checkpoint.position import HasPosition
from spmd.checkpoint.preemption import PreemptionSync
from spmd.checkpoint.saving import Save, clear
from spmd.checkpoint.selection import (
    DamagedCheckpointWarning,
    chosen_by_first,
    newest_intact,
    numbered,
)
from spmd.checkpoint.status import LoadStatus, RestoreStatus
from spmd.checkpoint.views import (
    View,
    register_view,
    view_of_variable,
)

__all__ = [
    "ARRAYS",
    "Checkpoint",
    "CheckpointError",
    "CheckpointManager",
    "CheckpointNotFoundError",
    "DamagedCheckpointError",
    "DamagedCheckpointWarning",
    "Entry",
    "HasPosition",
    "KeepPolicy",
    "LoadStatus",
    "PreemptionSync",
    "RestoreStatus",
    "Save",
    "SavePolicy",
    "View",
    "chosen_by_first",
    "clear",
    "folder_of",
    "is_checkpoint",
    "newest_intact",
    "numbered",
    "read",
    "read_manifest",
    "register_view",
    "remove",
    "verify",
    "view_of_variable",
]
