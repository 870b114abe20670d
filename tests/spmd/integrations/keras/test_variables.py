"""Keras variables in a step: one that was not found is an error."""

import threading

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import spmd
from spmd.integrations.keras import patch_keras
from spmd.servers import ServerVariables, Store
from tests.spmd.integrations.keras.loops import gradients_of


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


class _Built(keras.Model):
    """A model that says it is built before its layers are, as one does that is built for a shape."""

    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1, kernel_initializer="ones")
        self.built = True

    def call(self, x):
        return self.dense(x)


def test_slots_that_are_made_once_the_model_has_weights(mesh_of):
    """The weights are listed before the model is called, so the optimizer has none in the trace that makes variables."""
    model, optimizer = _Built(), keras.optimizers.SGD(0.1, momentum=0.5)

    def step(x):
        weights = model.trainable_variables
        loss, gradients = gradients_of(lambda: jnp.mean(model(x)) / 2, model)
        optimizer.apply(gradients[: len(weights)], weights)
        return loss

    train = spmd.Step(step, mesh_of(2))
    losses = [float(train(np.ones((4, 2), np.float32))) for _ in range(3)]
    # The gradient of each weight is 1: a step of 0.1, then one of 0.15.
    np.testing.assert_allclose(losses, [1, 0.85, 0.625], rtol=1e-6)
    for slot in optimizer.variables[2:]:
        np.testing.assert_allclose(slot.value, np.full(slot.shape, -0.175), rtol=1e-6)
    assert train.trace_count == 1


def _weight(kept, x):
    if not kept:
        kept.append(keras.layers.Dense(1, kernel_initializer="ones"))
    kept[0](x)
    return kept[0].kernel


def _weight_of_layer_in_layer(kept, x):
    if not kept:
        kept.append(_Built())
    kept[0](x)
    return kept[0].dense.kernel


def _plain(kept, x):
    if not kept:
        kept.append(keras.Variable(jnp.ones((2, 1))))
    return kept[0]


@pytest.mark.parametrize(
    ("variable_of", "at_once"),
    [(_weight, False), (_weight_of_layer_in_layer, False), (_plain, False), (_plain, True)],
)
def test_variables_that_are_made_once_others_exist(mesh_of, variable_of, at_once):
    first, kept = _Built(), []

    def step(x):
        is_built = at_once or bool(first.weights)
        result = first(x)
        if is_built:
            variable = variable_of(kept, x)
            variable.assign_add(np.full((2, 1), 2, np.float32))
            result = result + jnp.sum(variable.value)
        return result[0, 0]

    run = spmd.Step(step, mesh_of(2))
    # The first result is that of both kernels, of ones, after the sum.
    assert [float(run(np.ones((4, 2), np.float32))) for _ in range(3)] == [8, 12, 16]
    assert np.asarray(variable_of(kept, np.ones((4, 2)))).tolist() == [[7], [7]]
    assert run.trace_count == 1


def test_a_variable_that_is_made_in_each_call_is_one_of_the_step_only(mesh_of):
    def step(x):
        layer, metric = keras.layers.Dense(1, kernel_initializer="ones"), keras.metrics.Sum()
        metric.update_state(3.0)
        return layer(x)[0, 0] + metric.result()

    run = spmd.Step(step, mesh_of(2))
    # Replicas add up to one sum outside of the step only.
    assert [float(run(np.ones((4, 2), np.float32))) for _ in range(2)] == [5, 5]
    assert run.trace_count == 1


def test_a_variable_that_outlives_the_step_starts_from_no_value_of_it(mesh_of):
    kept = []

    def step(x):
        kept.append(keras.Variable(x + 1, name="late"))
        return x

    with pytest.raises(
        spmd.errors.StateError, match=r"The initial value of .* is computed by the step 'step'"
    ):
        spmd.Step(step, mesh_of(2))(np.float32(1))
