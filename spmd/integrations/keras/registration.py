"""Registers Keras with the engine, if it runs on JAX."""

import keras

from spmd.state import register_adapter


def register() -> None:
    """Adds the adapter for Keras's objects; does nothing on another backend than JAX."""
    if keras.backend.backend() == "jax":
        # The adapter takes Keras's JAX backend apart, which other backends do not have.
        from spmd.integrations.keras.adapter import KerasAdapter

        register_adapter(KerasAdapter())
