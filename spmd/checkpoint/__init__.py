"""Checkpoints: the state of training on disk, and back onto any number of devices and processes.

checkpoint = Checkpoint(model=model, optimizer=optimizer, step=step, data=iterator)
manager = CheckpointManager(checkpoint, "runs/1", keep=KeepPolicy(last=3))
manager.restore_latest()
...
manager.save(step)
"""

from spmd.checkpoint.arrays import ArrayEntry as ArrayEntry
from spmd.checkpoint.checkpoint import Checkpoint as Checkpoint
from spmd.checkpoint.errors import CheckpointError as CheckpointError
from spmd.checkpoint.errors import CheckpointNotFoundError as CheckpointNotFoundError
from spmd.checkpoint.errors import DamagedCheckpointError as DamagedCheckpointError
from spmd.checkpoint.errors import SaveError as SaveError
from spmd.checkpoint.intact import verify as verify
from spmd.checkpoint.layout import check_path as check_path
from spmd.checkpoint.layout import checkpoint_folder as checkpoint_folder
from spmd.checkpoint.layout import is_checkpoint as is_checkpoint
from spmd.checkpoint.layout import numbered_checkpoints as numbered_checkpoints
from spmd.checkpoint.layout import remove_checkpoint as remove_checkpoint
from spmd.checkpoint.layout import saved_at as saved_at
from spmd.checkpoint.manager import CheckpointManager as CheckpointManager
from spmd.checkpoint.manager import KeepPolicy as KeepPolicy
from spmd.checkpoint.manager import SavePolicy as SavePolicy
from spmd.checkpoint.position import HasPosition as HasPosition
from spmd.checkpoint.preemption import PreemptionSync as PreemptionSync
from spmd.checkpoint.reading import list_arrays as list_arrays
from spmd.checkpoint.reading import read_array as read_array
from spmd.checkpoint.saving import remove_leftovers as remove_leftovers
from spmd.checkpoint.saving import wait_for_saves as wait_for_saves
from spmd.checkpoint.selection import DamagedCheckpointWarning as DamagedCheckpointWarning
from spmd.checkpoint.selection import agree_on_checkpoint as agree_on_checkpoint
from spmd.checkpoint.selection import newest_intact as newest_intact
from spmd.checkpoint.status import LoadStatus as LoadStatus
from spmd.checkpoint.view import View as View
from spmd.checkpoint.view import register_view as register_view
from spmd.checkpoint.view import view_of_variable as view_of_variable
