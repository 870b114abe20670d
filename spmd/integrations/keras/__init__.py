"""Keras 3 models, on Keras's JAX backend."""

from spmd.integrations.keras.losses import share_losses
from spmd.integrations.keras.patches import (
    AppliedPatch,
    Patch,
    applied_patches,
    jax_trainer,
    patch_keras,
)
from spmd.integrations.keras.placement import (
    Placement,
    distribute_model,
    mesh_of,
    place_model,
    place_models,
)
from spmd.integrations.keras.typing import KerasObject, Method, Model, Optimizer

__all__ = [
    "AppliedPatch",
    "KerasObject",
    "Method",
    "Model",
    "Optimizer",
    "Patch",
    "Placement",
    "applied_patches",
    "distribute_model",
    "jax_trainer",
    "mesh_of",
    "patch_keras",
    "place_model",
    "place_models",
    "share_losses",
]
