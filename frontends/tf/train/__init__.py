"""`tf.train`: checkpoints, and the addresses of a cluster."""

from frontends.tf._names import attributes
from frontends.tf.train.checkpoint import Checkpoint
from frontends.tf.train.checkpoint_manager import CheckpointManager
from frontends.tf.train.checkpoint_options import CheckpointOptions
from frontends.tf.train.checkpoint_reader import (
    list_variables,
    load_checkpoint,
    load_variable,
)
from frontends.tf.train.checkpoint_state import (
    CheckpointState,
    get_checkpoint_state,
    latest_checkpoint,
)
from frontends.tf.train.cluster_spec import ClusterSpec

__all__ = [
    "Checkpoint",
    "CheckpointManager",
    "CheckpointOptions",
    "CheckpointState",
    "ClusterSpec",
    "get_checkpoint_state",
    "latest_checkpoint",
    "list_variables",
    "load_checkpoint",
    "load_variable",
]

__getattr__, __dir__ = attributes("tf.train", {}, present=__all__)
