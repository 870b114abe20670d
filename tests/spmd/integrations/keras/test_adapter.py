"""Keras layers and models in a step: found, trained, and watched for changes."""

import threading

import jax
import keras
import numpy as np
import pytest

import spmd
from spmd.integrations.keras.adapter import KerasAdapter
from tests.spmd.integrations.keras.loops import BATCH, gradients_of, make_data, make_model, trained


def test_another_thread_begins_as_this_one_was():
    found = []

    def look():
        set_up()
        found.append(keras.src.backend.common.name_scope.current_path())

    with keras.name_scope("outer"):
        set_up = KerasAdapter().on_thread()
        with keras.name_scope("inner"):
            thread = threading.Thread(target=look)
            thread.start()
            thread.join()
    assert found == ["outer"]


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["LSTM", "GRU"])
def test_recurrent_layers(mesh_of, layer):
    results = []
    for replicas in (1, 2):
        keras.utils.set_random_seed(0)
        recurrent = [keras.layers.Reshape((5, 1)), getattr(keras.layers, layer)(4)]
        model = keras.Sequential([*recurrent, keras.layers.Dense(3)])
        results.append(trained(mesh_of(replicas), model, keras.optimizers.Adam(0.01), epochs=1))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6), *results)


def test_freezing_a_layer_is_noticed(mesh_of):
    model, optimizer = make_model(), keras.optimizers.SGD(0.1)
    per_row = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None)

    def step(batch):
        x, y = batch
        _, gradients = gradients_of(lambda: spmd.average_loss(per_row(y, model(x))), model)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    train = spmd.Step(step, mesh_of(2))
    batch = next(iter(spmd.distribute(make_data(), mesh_of(2), batch_size=BATCH)))
    train(batch)
    model.layers[0].trainable = False
    before = [np.asarray(weight) for weight in model.weights]
    train(batch)
    assert train.trace_count == 2
    changed = [np.any(np.asarray(w) != b) for w, b in zip(model.weights, before, strict=True)]
    assert changed == [False, False, True, True]


class _Scaled(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3)
        self.scale = 2.0

    def call(self, inputs):
        return self.dense(inputs) * self.scale


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras, NumPy 2
def test_saving_a_model_compiles_nothing_anew_and_a_setting_does(mesh_of, tmp_path):
    model = _Scaled()
    step = spmd.Step(lambda x: model(x), mesh_of(2))
    ones = np.ones((2, 3), np.float32)
    first = np.asarray(step(ones)[0])
    model.save_weights(tmp_path / "model.weights.h5")
    model.load_weights(tmp_path / "model.weights.h5")
    step(ones)
    assert step.trace_count == 1
    model.scale = 4.0
    np.testing.assert_allclose(step(ones)[0], 2 * first, rtol=1e-6)
    assert step.trace_count == 2


class _TwoLosses(keras.Model):
    """Adds a loss of its rows, and reads it after the replicas have met in between."""

    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3, activity_regularizer="l2")

    def call(self, inputs):
        outputs = self.dense(inputs)
        self.add_loss(outputs.sum())
        return outputs / spmd.all_reduce(outputs.shape[0])


def test_losses_of_layers_are_the_replicas_own_op_by_op(mesh_of):
    keras.utils.set_random_seed(0)
    model = _TwoLosses()
    step = spmd.Step(lambda x: (model(x).sum(), sum(model.losses)), mesh_of(2))
    rows = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)
    (batch,) = spmd.distribute(rows, mesh_of(2), batch_size=8)
    plain = step.op_by_op(batch)  # makes the weights, too
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), plain, step(batch))


def test_threads_of_replicas_have_the_callers_settings(mesh_of):
    policies = []
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        step = spmd.Step(lambda: policies.append(keras.config.dtype_policy().name), mesh_of(2))
        step.op_by_op()
    finally:
        keras.config.set_dtype_policy("float32")
    assert policies == ["mixed_bfloat16"] * 2
