"""Eight simulated CPU devices and Keras on JAX, for the tests and the doctests alike."""

import os

import spmd

os.environ.setdefault("KERAS_BACKEND", "jax")  # before Keras is imported: it fixes the backend
spmd.simulate_devices(8)
