"""Where models run."""

import keras
import pytest

from spmd.integrations.keras import (
    Placement,
    distribute_model,
    patch_keras,
    place_models,
    placement,
)
from spmd.integrations.keras import (
    mesh_of as on_mesh,
)
from spmd.integrations.keras.placement import placement_of

patch_keras()


@pytest.fixture(autouse=True)
def _default(monkeypatch):
    """New models are Keras's, also where tf.keras was imported before; and are again afterwards."""
    monkeypatch.setattr(placement, "_DEFAULT", [lambda: None])


def test_a_model_belongs_to_keras_until_it_is_placed(mesh_of):
    model, mesh = keras.Sequential([keras.layers.Dense(1)]), mesh_of(2)
    assert on_mesh(model) is None
    assert placement_of(model) is None
    model.train_function = print
    assert distribute_model(model, mesh) is model
    assert on_mesh(model) is mesh
    assert model.train_function is None


def test_new_models_go_where_the_default_says(mesh_of):
    before, there = keras.Sequential(), Placement(mesh_of(2))
    place_models(lambda: there)
    assert placement_of(keras.Sequential()) is there
    assert placement_of(before) is None
    place_models(lambda: None)
    assert placement_of(keras.Sequential()) is None
