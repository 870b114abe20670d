"""Copies of Keras's objects in workers; here the worker is this process."""

import keras
import numpy as np
import pytest

import spmd
from spmd.integrations.keras import Placement, patch_keras, place_model, placement_of
from spmd.servers import ServerVariables, Store
from spmd.servers.remote import Receiver, Sender
from spmd.state import backing_of

pytest.importorskip("ray")


@pytest.fixture
def send():
    patch_keras()
    mesh, store = spmd.make_mesh(["cpu:0"]), Store()
    sender = Sender(mesh, ServerVariables([store]))
    receiver, known = Receiver(mesh, ServerVariables([store])), sender.join()

    def call(value):
        (closure,) = receiver.unpack(sender.pack([lambda: value], known))
        return closure()

    return call


def test_a_model_is_copied_with_its_layers(send):
    inputs = keras.Input((3,))
    shared = keras.layers.Dense(3)
    model = keras.Model(inputs, shared(shared(inputs)))
    copy = send(model)
    assert copy is not model
    assert copy is send(model)
    assert copy.layers[1] is send(shared)
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(copy(x), model(x))


def test_a_model_that_is_not_built_is_built_there(send):
    copy = send(keras.Sequential([keras.layers.Dense(2)]))
    assert copy(np.ones((1, 3), np.float32)).shape == (1, 2)


def test_a_compiled_model_is_placed_and_compiles_anew(send):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    place_model(model, Placement(spmd.make_mesh(["cpu:0"])))
    model.compile("adam", "mse", metrics=["mae"])
    x = np.ones((4, 3), np.float32)
    model.predict(x, verbose=0)
    assert model.predict_function is not None
    copy = send(model)
    assert placement_of(copy) is not None
    assert copy.predict_function is None
    before = copy.evaluate(x, x[:, :1], verbose=0, return_dict=True)
    copy.fit(x, x[:, :1], epochs=3, verbose=0)
    after = copy.evaluate(x, x[:, :1], verbose=0, return_dict=True)
    assert after["loss"] < before["loss"]
    assert backing_of(copy.weights[0]) is not None
    np.testing.assert_array_equal(copy.weights[0], model.weights[0])


def test_a_model_is_copied_while_it_is_validated(send):
    """`fit` keeps an iterator over the validation data in the model, which no worker needs."""
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.ones((4, 3), np.float32)
    copies = []

    def copy(epoch, logs):
        assert model._eval_epoch_iterator is not None
        copies.append(send(model))

    model.fit(
        x,
        x[:, :1],
        validation_data=((x, x[:, :1]) for _ in range(2)),
        validation_steps=2,
        callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=copy)],
        verbose=0,
    )
    (copied,) = copies
    assert copied._eval_epoch_iterator is None
    assert np.isfinite(copied.evaluate(x, x[:, :1], verbose=0))


def test_an_optimizer_keeps_the_name_of_its_rule(send):
    optimizer = keras.optimizers.Adam(0.1)
    vars(optimizer)["_spmd_rules"] = {"key": "k", (0, True): object()}
    copy = send(optimizer)
    assert vars(copy)["_spmd_rules"] == {"key": "k"}
    assert float(copy.learning_rate) == pytest.approx(0.1)
    assert len(vars(optimizer)["_spmd_rules"]) == 2
