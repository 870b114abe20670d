"""Keras variables in a step: one that was not found is an error."""

import threading

import jax
import keras
import numpy as np
import pytest

import spmd
from spmd.integrations.keras import patch_keras
from spmd.servers import ServerVariables, Store


def test_a_variable_that_the_step_does_not_find_is_an_error(mesh_of):
    layer, variable = keras.layers.Dense(1), keras.Variable(np.float32(1.0), name="lost")
    layer.build((None, 1))
    hidden = {0: layer, 1: variable}.get  # a built-in method, which nobody can look into
    ones = np.ones((2, 1), np.float32)
    for uses in (
        lambda x: hidden(0)(x),
        lambda x: x * hidden(1),
        lambda x: hidden(1).assign(2.0),
        lambda x: hidden(1).assign_add(1.0),
    ):
        with pytest.raises(
            spmd.errors.StateError, match=r"'(lost|dense.*kernel)', which it did not find"
        ):
            spmd.Step(uses, mesh_of(2))(ones)
    assert float(variable.value) == 1.0
    named = spmd.Step(lambda x: x * hidden(1), mesh_of(2), state=[variable])
    assert float(named(ones)[0][0]) == 1.0
    variable.assign(3.0)
    assert float(named(ones)[0][0]) == 3.0


def test_a_variable_on_servers_is_written_while_another_thread_traces(mesh_of):
    patch_keras()
    variable = keras.Variable(np.zeros(2, np.float32))
    ServerVariables([Store()]).bind(variable)
    traces, go, seen = threading.Event(), threading.Event(), []

    def step():
        traces.set()
        go.wait(10)
        seen.append(variable.value)
        return variable.value.sum()

    tracing = threading.Thread(target=spmd.Step(step, mesh_of(1), state=[variable]))
    tracing.start()
    assert traces.wait(10)
    writing = threading.Thread(target=variable.assign, args=(np.ones(2, np.float32),))
    writing.start()
    writing.join(0.2)
    go.set()
    tracing.join(30)
    writing.join(10)
    assert isinstance(seen[0], jax.core.Tracer)  # not the other thread's value
    assert np.asarray(variable.value).tolist() == [1, 1]
