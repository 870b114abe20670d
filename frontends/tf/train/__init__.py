"""`tf.train`: which checkpoint of a folder is the latest, and the addresses of a cluster."""

from frontends.tf._names import attributes
from frontends.tf.train.checkpoint_state import (
    CheckpointState,
    get_checkpoint_state,
    latest_checkpoint,
)
from frontends.tf.train.cluster_spec import ClusterSpec

__all__ = ["CheckpointState", "ClusterSpec", "get_checkpoint_state", "latest_checkpoint"]

__getattr__, __dir__ = attributes("tf.train", {}, present=__all__)
