"""Training with Keras goes on with the same numbers, wherever and whenever the model is built."""

import keras
import numpy as np
import pytest

from spmd.checkpoint import Checkpoint, CheckpointError
from spmd.errors import UnavailableError
from spmd.integrations.keras import distribute_model
from spmd.state import back

X = np.random.default_rng(0).normal(size=(24, 4)).astype(np.float32)
Y = X[:, :1]


def model_of(mesh, built, seed=0):
    keras.utils.set_random_seed(seed)
    inputs = [keras.Input((4,))] if built else []
    layers = [
        keras.layers.Dense(8, "relu"),
        keras.layers.BatchNormalization(),
        keras.layers.Dropout(0.3, seed=seed),
        keras.layers.Dense(1),
    ]
    model = keras.Sequential(inputs + layers)
    if mesh is not None:
        distribute_model(model, mesh)
    model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    return model


def fit(model):
    return model.fit(X, Y, batch_size=8, shuffle=False, verbose=0).history


def weights(model):
    return [np.asarray(v) for v in [*model.variables, *model.optimizer.variables]]


@pytest.mark.parametrize("built", [pytest.param(True, marks=pytest.mark.slow), False])
def test_fit_goes_on_bitwise_equal(tmp_path, mesh_of, built):
    first = model_of(mesh_of(4), built)
    fit(first)
    path = Checkpoint(model=first).save(tmp_path / "ckpt")
    other = model_of(mesh_of(4), built, seed=1)
    status = Checkpoint(model=other).restore(path)
    if not built:
        with pytest.raises(AssertionError, match="Unresolved object"):
            status.assert_consumed()
    assert fit(other) == fit(first)
    status.assert_consumed()
    for a, b in zip(weights(first), weights(other), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("devices", [2, pytest.param(1, marks=pytest.mark.slow), None])
def test_fit_goes_on_on_other_devices(tmp_path, mesh_of, devices):
    first = model_of(mesh_of(4), True)
    first.layers[2].rate = 0.0  # what is dropped depends on the number of replicas
    fit(first)
    path = Checkpoint(model=first).save(tmp_path / "ckpt")
    other = model_of(None if devices is None else mesh_of(devices), True, seed=1)
    other.layers[2].rate = 0.0
    Checkpoint(model=other).restore(path)
    for a, b in zip(weights(first), weights(other), strict=False):
        np.testing.assert_array_equal(a, b)
    again = model_of(mesh_of(1), True, seed=2)
    Checkpoint(model=again).restore(path)
    assert len(weights(again)) >= len(weights(other))


def test_a_model_that_is_built_later_starts_with_its_values(tmp_path):
    first = model_of(None, True)
    path = Checkpoint(model=first).save(tmp_path / "ckpt")
    other = model_of(None, False, seed=1)
    Checkpoint(model=other).restore(path).expect_partial()
    np.testing.assert_array_equal(other(X), first(X))


def test_the_checkpoint_need_not_be_kept_for_that(tmp_path):
    import gc

    first = model_of(None, True)
    path = Checkpoint(model=first).save(tmp_path / "ckpt")
    other = model_of(None, False, seed=1)
    Checkpoint(model=other).restore(path).expect_partial()
    gc.collect()
    np.testing.assert_array_equal(other.predict(X, verbose=0), first.predict(X, verbose=0))


def test_what_is_written_after_it_was_made_stays(tmp_path):
    first = keras.layers.Dense(1)
    first.build((None, 1))
    path = Checkpoint(layer=first).save(tmp_path / "ckpt")
    other = keras.layers.Dense(1)
    Checkpoint(layer=other).restore(path)
    other.build((None, 1))
    other.kernel.assign([[5.0]])
    assert float(other.kernel[0, 0]) == 5.0


def test_what_is_made_later_but_does_not_fit_is_told_of(tmp_path):
    first = keras.layers.Dense(1)
    first.build((None, 1))
    path = Checkpoint(layer=first).save(tmp_path / "ckpt")
    other = keras.layers.Dense(2)
    Checkpoint(layer=other).restore(path)
    other.build((None, 1))
    with pytest.raises(
        CheckpointError, match=r"layer/kernel: expected float32\[1, 2\], found float32"
    ):
        _ = other.kernel.value


def test_slots_that_are_made_later_get_their_values(tmp_path):
    first = model_of(None, True)
    fit(first)
    path = Checkpoint(optimizer=first.optimizer).save(tmp_path / "ckpt")
    optimizer = keras.optimizers.Adam()
    status = Checkpoint(optimizer=optimizer).restore(path)
    assert int(optimizer.iterations) == 3
    optimizer.build(first.trainable_variables)
    for a, b in zip(first.optimizer.variables, optimizer.variables, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    status.assert_consumed()


class _Lost:
    """The backing of variables whose servers are gone."""

    takes_updates = True

    def refresh(self, variables):
        raise UnavailableError("The parameter server ps_0 is gone.")

    push = refresh


def test_what_waits_for_lost_variables_does_not_fail_others(tmp_path, caplog):
    first = model_of(None, True)
    fit(first)
    path = Checkpoint(optimizer=first.optimizer).save(tmp_path / "ckpt")
    lost, other = keras.optimizers.Adam(), keras.optimizers.Adam()
    Checkpoint(optimizer=lost).restore(path)
    lost.build(first.trainable_variables)
    backing = _Lost()
    for slot in lost.variables:
        back(slot, backing)
    status = Checkpoint(optimizer=other).restore(path)
    other.build(first.trainable_variables)
    assert int(other.iterations) == 3
    status.assert_consumed()
    assert f"{path} is no longer restored into objects whose values are lost" in caplog.text
    with pytest.raises(UnavailableError, match="ps_0 is gone"):
        int(lost.iterations)
