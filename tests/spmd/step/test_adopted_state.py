"""Slots that an optimizer makes at a step's first call: the step is traced once, as if they had been there."""

import gc
import weakref

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import spmd
from spmd.errors import StateError
from spmd.recording import Recording


class Writing(keras.optimizers.SGD):
    """Writes what it makes, as it makes it."""

    def build(self, variables):
        super().build(variables)
        self.start = self.add_variable((), name="start", initializer="zeros")
        self.start.assign(5.0)


OPTIMIZERS = {
    "sgd": lambda: keras.optimizers.SGD(0.1),
    "adam": lambda: keras.optimizers.Adam(0.1, amsgrad=True),
    "nadam": lambda: keras.optimizers.Nadam(0.1),
    "averaged": lambda: keras.optimizers.SGD(0.1, use_ema=True, ema_overwrite_frequency=2),
    "accumulated": lambda: keras.optimizers.Adam(0.1, gradient_accumulation_steps=2),
    "writing": lambda: Writing(0.1),
    "scaled": lambda: keras.optimizers.LossScaleOptimizer(
        keras.optimizers.Adam(0.1), initial_scale=2.0, dynamic_growth_steps=2
    ),
}


class Training:
    """A step that trains one weight, and counts how often its code runs."""

    def __init__(self, mesh, optimizer, place=lambda apply: apply()):
        self.weight = keras.Variable(np.float32([1.0, 2.0]), name="w")
        self.optimizer, self.mesh, self.place, self.runs = optimizer, mesh, place, 0

    def results(self, steps=5):
        def step(batch):
            self.runs += 1
            errors = batch - self.weight
            gradient = -2 * errors.sum(0) / 8
            self.place(lambda: self.optimizer.apply_gradients([(gradient, self.weight)]))
            return spmd.all_reduce((errors**2).sum())

        train = spmd.Step(step, self.mesh)
        data = np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32)
        (batch,) = spmd.distribute(data, self.mesh, batch_size=8)
        losses = [np.asarray(train(batch)).item() for _ in range(steps)]
        assert train.trace_count == 1
        return losses, [np.asarray(one) for one in [self.weight, *self.optimizer.variables]]


def assert_alike(found, expected):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), found, expected)


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_code_runs_once_and_slots_are_updated_in_every_step(mesh_of, name, replicas):
    ready = Training(mesh_of(replicas), OPTIMIZERS[name]())
    ready.optimizer.build([ready.weight])
    late = Training(mesh_of(replicas), OPTIMIZERS[name]())
    assert_alike(late.results(), ready.results())
    assert late.runs == 1


def test_results_with_rows(mesh_of):
    weight, optimizer = keras.Variable(np.float32([1.0])), keras.optimizers.Adam(0.1)

    def step(batch):
        optimizer.apply_gradients([(batch.sum(0), weight)])
        return batch[:, 0] * optimizer.variables[-1][0]

    train, mesh = spmd.Step(step, mesh_of(2)), mesh_of(2)
    (batch,) = spmd.distribute(np.ones((3, 1), np.float32), mesh, batch_size=3)
    rows = [np.concatenate(train(batch).values) for _ in range(2)]
    # Adam's second moment, of a gradient of 3; the padding of the second replica is no result.
    np.testing.assert_allclose(rows[0], np.full(3, 0.001 * 9), rtol=1e-5)
    np.testing.assert_allclose(rows[1], np.full(3, 0.001 * 9 * 1.999), rtol=1e-5)


def _in_a_tape(apply):
    with Recording().recording():
        apply()


@pytest.mark.parametrize("optimizer", [keras.optimizers.Adam, Writing])
def test_what_one_trace_does_not_tell_takes_another(mesh_of, optimizer):
    late = Training(mesh_of(2), optimizer(0.1), _in_a_tape)
    found = late.results()
    ready = Training(mesh_of(2), optimizer(0.1), _in_a_tape)
    ready.optimizer.build([ready.weight])
    assert_alike(found, ready.results())
    assert late.runs == 2


def test_a_step_that_does_not_use_the_optimizer_is_traced_once(mesh_of):
    late = Training(mesh_of(2), keras.optimizers.Adam(0.1), lambda apply: None)
    late.results(1)
    assert late.runs == 1
    assert not late.optimizer.built


def test_several_optimizers_which_are_applied_several_times(mesh_of):
    weights = [keras.Variable(np.float32([1.0])) for _ in range(2)]
    optimizers = [keras.optimizers.SGD(0.5, momentum=0.5) for _ in range(2)]
    runs = []

    def step():
        runs.append(1)
        for index in (1, 0, 0):
            gradient = jnp.full(1, index + 1.0) * weights[1 - index] / 2
            optimizers[index].apply([gradient], [weights[index]])

    train = spmd.Step(step, mesh_of(2))
    train()
    train()
    expected, velocity = np.float32([1.0, 1.0]), np.zeros(2, np.float32)
    for index in (1, 0, 0) * 2:
        velocity[index] = 0.5 * velocity[index] - 0.5 * (index + 1) * expected[1 - index]
        expected[index] += velocity[index]
    np.testing.assert_allclose([weight[0] for weight in weights], expected, rtol=1e-6)
    assert len(runs) == 1


@pytest.mark.parametrize("of", [dict.values, lambda each: iter(each.values())])
def test_variables_may_be_any_iterable_and_none_is_built_without_gradients(mesh_of, of):
    weights = {"a": keras.Variable(np.float32([1.0]))}
    trained, idle = keras.optimizers.SGD(0.5, momentum=0.5), keras.optimizers.Adam()

    def step():
        trained.apply([jnp.ones(1)], of(weights))
        idle.apply([], of(weights))

    spmd.Step(step, mesh_of(1))()
    np.testing.assert_allclose(weights["a"], [0.5])
    assert (trained.built, idle.built) == (True, False)


def test_an_optimizer_that_does_not_say_that_it_is_built_is_built_once(mesh_of):
    class Silent(keras.optimizers.Optimizer):
        def build(self, variables):
            self.counts = [self.add_variable((), name="count", initializer="zeros")]
            self._trainable_variables_indices[self._var_key(variables[0])] = 0

        def update_step(self, gradient, variable, learning_rate):
            self.counts[0].assign_add(1)
            variable.assign_sub(gradient)

    weight, optimizer = keras.Variable(np.float32([3.0])), Silent(0.1)
    train = spmd.Step(lambda: optimizer.apply([jnp.ones(1)], [weight]), mesh_of(1))
    train()
    train()
    assert [float(one) for one in optimizer.variables[2:]] == [2.0]
    np.testing.assert_allclose(weight, [1.0])


def test_a_slot_that_starts_from_a_value_of_the_step_is_refused(mesh_of):
    class Following(keras.optimizers.SGD):
        def build(self, variables):
            super().build(variables)
            self.slow = self.add_variable_from_reference(variables[0], "slow")
            self.slow.assign(variables[0])

    late = Training(mesh_of(1), Following(0.1))
    with pytest.raises(StateError, match=r"slow.* is computed by the step.*\boptimizer\.build"):
        late.results()


def test_a_step_that_fails_is_traced_with_the_slots_the_next_time(mesh_of):
    failing = [True]

    def place(apply):
        apply()
        if failing.pop():
            raise RuntimeError("the first time")

    late = Training(mesh_of(2), keras.optimizers.Adam(0.1), place)
    with pytest.raises(RuntimeError, match="the first time"):
        late.results(1)
    failing.append(False)
    ready = Training(mesh_of(2), keras.optimizers.Adam(0.1))
    ready.optimizer.build([ready.weight])
    assert_alike(late.results(), ready.results())


def test_first_values_are_not_kept(mesh_of, monkeypatch):
    # A recording that another test left behind would keep them.
    monkeypatch.setattr("spmd.state.table.WRITE_OBSERVERS", weakref.WeakSet())
    shape, first = (1, 2, 1, 3, 1), []  # no other test's arrays have it
    weight, optimizer = keras.Variable(np.ones(shape, np.float32)), keras.optimizers.Adam(0.1)

    def step():
        optimizer.apply([jnp.ones(shape)], [weight])
        first.extend(weakref.ref(value) for value in jax.live_arrays() if value.shape == shape)

    train = spmd.Step(step, mesh_of(1))
    gc.collect()
    gc.disable()
    try:
        train()
        train()
        held = {id(one.value) for one in [weight, *optimizer.variables]}
        kept = [ref() for ref in first if ref() is not None and id(ref()) not in held]
    finally:
        gc.enable()
    assert first
    assert not kept
