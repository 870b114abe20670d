"""Keras 3 models, on Keras's JAX backend."""

from spmd.integrations.keras.losses import share_losses
from spmd.integrations.keras.trainer import (
    Placement,
    mesh_of,
    place_model,
    place_models,
)

__all__ = [
    "Placement",
    "mesh_of",
    "place_model",
    "place_models",
    "share_losses",
]
