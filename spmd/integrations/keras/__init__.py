"""Keras 3 models, on Keras's JAX backend."""
