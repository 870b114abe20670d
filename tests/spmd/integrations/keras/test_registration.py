"""Keras enters steps when it runs on JAX."""

import keras
import pytest

from spmd.integrations.keras import registration
from spmd.state import adapter_of, adapters

OTHER_BACKEND = """
import numpy as np
import keras, spmd
from spmd.integrations.keras import applied_patches, distribute_model
print(spmd.Step(lambda x: x + 1, spmd.make_mesh(["cpu:0"]))(np.ones((1,)))[0], applied_patches())
try:
    distribute_model(keras.Sequential(), spmd.make_mesh(["cpu:0"]))
except spmd.errors.StateError as error:
    print(error)
"""


def test_there_is_one_adapter_for_keras():
    assert adapter_of(keras.layers.Dense(1)) is not None
    before = list(adapters())
    registration.register()
    assert list(adapters()) == before


@pytest.mark.slow
def test_keras_on_another_backend_is_left_alone(run_python):
    done = run_python("-c", OTHER_BACKEND, environment={"KERAS_BACKEND": "numpy"})
    result, error = done.stdout.splitlines()
    assert result == "2.0 ()"
    assert error.startswith("Models train on replicas with Keras on the backend 'jax'")
    assert "imported with 'numpy'" in error
    assert error.endswith("export KERAS_BACKEND=jax")
