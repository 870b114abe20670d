"""Registers Keras with the engine, if it runs on JAX."""

import keras

from spmd.integrations.keras.adapter import KerasAdapter
from spmd.integrations.keras.patches import patch_keras
from spmd.state import register_adapter


def register() -> None:
    """Patches Keras and adds the adapter for its objects; does nothing on another backend than JAX."""
    if keras.backend.backend() == "jax":
        patch_keras()
        register_adapter(KerasAdapter())
