"""The parts of Keras's objects have the same names in every run."""

import gc

import keras
import numpy as np
import pytest

import spmd
from spmd.checkpoint import Checkpoint
from spmd.checkpoint.graph import walk
from spmd.integrations.keras import distribute_model
from spmd.integrations.keras.adapter import KerasAdapter


def names(**objects):
    return {found.path for found in walk(Checkpoint(**objects)) if found.view.kind == "arrays"}


def sequential(rate=0.5):
    return keras.Sequential(
        [
            keras.Input((2,)),
            keras.layers.Dense(3),
            keras.layers.BatchNormalization(),
            keras.layers.Dropout(rate),
        ]
    )


class Custom(keras.Model):
    def __init__(self):
        super().__init__()
        self.blocks = [keras.layers.Dense(2), {"deep": keras.layers.Dense(2)}]
        self._hidden = keras.layers.Dense(1)
        self.seen = keras.metrics.Mean()

    def build(self, shape):
        self.scale = self.add_weight(shape=(), name="scale")
        self.add_weight(shape=(1,), name="nameless")
        for layer in (self.blocks[0], self.blocks[1]["deep"], self._hidden):
            layer.build((None, 2))

    def call(self, x):
        return self._hidden(self.blocks[1]["deep"](self.blocks[0](x))) * self.scale


def test_layers_of_a_sequential_go_by_number():
    expected = {
        *("model/layers/0/kernel", "model/layers/0/bias", "model/layers/2/seed_generator/state"),
        *(f"model/layers/1/{name}" for name in ("gamma", "beta", "moving_mean", "moving_variance")),
    }
    assert names(model=sequential()) == names(model=sequential()) == expected


def test_layers_of_a_functional_model_go_by_number():
    inputs = keras.Input((2,))
    model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
    assert names(model=model) == {"model/layers/1/kernel", "model/layers/1/bias"}


def test_parts_of_a_model_of_ones_own_go_by_attribute():
    model = Custom()
    model.build((None, 2))
    layers = ("blocks/0", "blocks/1/deep", "hidden")
    expected = {f"model/{layer}/{name}" for layer in layers for name in ("kernel", "bias")}
    expected |= {"model/scale", "model/nameless", "model/seen/total", "model/seen/count"}
    assert names(model=model) == expected


def test_slots_of_an_optimizer_go_by_its_lists():
    optimizer = keras.optimizers.Adam()
    optimizer.build(keras.layers.Dense(1).variables or sequential().trainable_variables)
    slots = {f"optimizer/{kind}/{i}" for kind in ("momentums", "velocities") for i in range(4)}
    assert names(optimizer=optimizer) == {
        *slots,
        *("optimizer/iterations", "optimizer/learning_rate"),
    }


@pytest.mark.parametrize(
    "make",
    [
        lambda: keras.layers.Bidirectional(keras.layers.LSTM(2, dropout=0.1)),
        lambda: keras.layers.MultiHeadAttention(2, 2),
        lambda: keras.layers.TimeDistributed(keras.layers.Dense(2)),
        lambda: keras.layers.RNN([keras.layers.GRUCell(2), keras.layers.GRUCell(2)]),
        lambda: keras.layers.SpectralNormalization(keras.layers.Dense(2)),
    ],
)
def test_no_variable_of_a_layer_is_left_out(make):
    layer, shape = make(), (2, 3, 4)
    layer.build(*[shape, shape] if isinstance(layer, keras.layers.MultiHeadAttention) else [shape])
    _nothing_is_left_out(layer)


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda: keras.optimizers.Adam(amsgrad=True, use_ema=True),
        lambda: keras.optimizers.SGD(momentum=0.9, gradient_accumulation_steps=2),
        lambda: keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam()),
        lambda: keras.optimizers.Ftrl(),
        lambda: keras.optimizers.Adafactor(),
        lambda: keras.optimizers.Muon(),
    ],
)
def test_no_variable_of_an_optimizer_is_left_out(optimizer):
    optimizer = optimizer()
    optimizer.build(sequential().trainable_variables)
    _nothing_is_left_out(optimizer)


def test_no_variable_of_a_compiled_model_is_left_out(mesh_of):
    model = distribute_model(sequential(), mesh_of(2))
    metrics = [keras.metrics.F1Score(), "mae", keras.metrics.R2Score()]
    model.compile("adam", "mse", metrics=metrics, weighted_metrics=["mse"])
    x = np.ones((4, 2), np.float32)
    model.fit(x, np.ones((4, 3), np.float32), verbose=0)
    _nothing_is_left_out(model)


def _nothing_is_left_out(part):
    found = {id(f.view.obj) for f in walk(Checkpoint(part=part)) if f.view.kind == "arrays"}
    variables = KerasAdapter().variables(part)
    assert variables
    assert not [name for name, v in variables if id(v) not in found]


def test_an_spmd_variable_is_found_in_a_model():
    model = Custom()
    model.counter = spmd.Variable(0)
    assert "model/counter" in names(model=model)


def test_no_example_of_a_model_stays_alive():
    names(model=sequential())
    gc.collect()
    alive = [one for one in gc.get_objects() if isinstance(one, keras.Model)]
    assert not [model for model in alive if model.name == "bookkeeping"]
