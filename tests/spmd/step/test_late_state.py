"""Slots that an optimizer makes at a step's first call: the step is traced once, as if they had been there."""

import jax
import keras
import numpy as np
import pytest

import spmd
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


def test_what_one_trace_does_not_tell_takes_another(mesh_of):
    late = Training(mesh_of(2), keras.optimizers.Adam(0.1), _in_a_tape)
    found = late.results()
    ready = Training(mesh_of(2), keras.optimizers.Adam(0.1), _in_a_tape)
    ready.optimizer.build([ready.weight])
    assert_alike(found, ready.results())
    assert late.runs == 2


def test_a_step_that_does_not_use_the_optimizer_is_traced_once(mesh_of):
    late = Training(mesh_of(2), keras.optimizers.Adam(0.1), lambda apply: None)
    late.results(1)
    assert late.runs == 1
    assert not late.optimizer.built
