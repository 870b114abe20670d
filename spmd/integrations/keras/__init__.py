"""Keras 3 models, on Keras's JAX backend."""

from spmd.integrations.keras.losses import share_losses as share_losses
from spmd.integrations.keras.patches import AppliedPatch as AppliedPatch
from spmd.integrations.keras.patches import Patch as Patch
from spmd.integrations.keras.patches import applied_patches as applied_patches
from spmd.integrations.keras.patches import jax_trainer as jax_trainer
from spmd.integrations.keras.patches import patch_keras as patch_keras
from spmd.integrations.keras.placement import BatchLoop as BatchLoop
from spmd.integrations.keras.placement import Placement as Placement
from spmd.integrations.keras.placement import distribute_model as distribute_model
from spmd.integrations.keras.placement import mesh_of as mesh_of
from spmd.integrations.keras.placement import place_model as place_model
from spmd.integrations.keras.placement import place_models as place_models
from spmd.integrations.keras.placement import placement_of as placement_of
from spmd.integrations.keras.typing import Batch as Batch
from spmd.integrations.keras.typing import KerasObject as KerasObject
from spmd.integrations.keras.typing import Logs as Logs
from spmd.integrations.keras.typing import Method as Method
from spmd.integrations.keras.typing import Model as Model
from spmd.integrations.keras.typing import Optimizer as Optimizer
