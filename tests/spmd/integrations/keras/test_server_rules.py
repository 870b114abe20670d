"""Keras's optimizers as rules of parameter servers."""

import copy

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import spmd
from spmd.errors import StateError
from spmd.integrations.keras import patch_keras
from spmd.integrations.keras.server_rules import KerasRule, rule_of
from spmd.servers import ServerVariables, Store

ROWS = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)
TARGETS = ROWS.sum(1, keepdims=True)

OPTIMIZERS = {
    "sgd": lambda: keras.optimizers.SGD(0.1),
    "momentum": lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "adam": lambda: keras.optimizers.Adam(0.01),
    "schedule, decay, clipped": lambda: keras.optimizers.AdamW(
        keras.optimizers.schedules.ExponentialDecay(0.01, 2, 0.5), global_clipnorm=0.1
    ),
    "shared slot, averages": lambda: keras.optimizers.Nadam(0.01, use_ema=True),
    "accumulated": lambda: keras.optimizers.Adagrad(0.1, gradient_accumulation_steps=2),
    "scaled": lambda: keras.optimizers.RMSprop(0.01, loss_scale_factor=4.0),
}


class Training:
    """A model, its optimizer and a metric, here or on two servers."""

    def __init__(self, optimizer, *, on_servers: bool, reads_after: bool = False) -> None:
        patch_keras()
        keras.utils.set_random_seed(1)
        self.model = keras.Sequential(
            [
                keras.Input((4,)),
                keras.layers.Dense(3, activation="relu", kernel_constraint="max_norm"),
                keras.layers.BatchNormalization(),
                keras.layers.Dense(1),
            ]
        )
        self.optimizer, self.metric = optimizer, keras.metrics.Mean(name="loss")
        self.stores = [Store(), Store()]
        if on_servers:
            backing = ServerVariables(self.stores, lambda shape, dtype: min(2, shape[0]))
            variables = self.model.variables + optimizer.variables + self.metric.variables
            for variable in variables:
                backing.bind(variable)
        self.reads_after = reads_after
        self.step = spmd.Step(self._step, spmd.make_mesh(["cpu:0"]))

    def _step(self, x, y):
        model = self.model

        def loss(values):
            others = [variable.value for variable in model.non_trainable_variables]
            predicted, others = model.stateless_call(values, others, x, training=True)
            return ((predicted - y) ** 2).mean(), others

        values = [variable.value for variable in model.trainable_variables]
        (result, others), gradients = jax.value_and_grad(loss, has_aux=True)(values)
        for variable, value in zip(model.non_trainable_variables, others, strict=True):
            variable.assign(value)
        self.optimizer.apply(gradients, model.trainable_variables)
        self.metric.update_state(result)
        if self.reads_after:
            return result, sum(jnp.sum(one.value) for one in model.trainable_variables)
        return result

    def values(self) -> list[np.ndarray]:
        variables = self.model.variables + self.optimizer.variables + self.metric.variables
        return [np.asarray(variable.value) for variable in variables]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_servers_compute_what_a_step_computes(name):
    here = Training(OPTIMIZERS[name](), on_servers=False)
    there = Training(OPTIMIZERS[name](), on_servers=True)
    for _ in range(5):
        np.testing.assert_allclose(there.step(ROWS, TARGETS), here.step(ROWS, TARGETS), rtol=1e-5)
    assert len(there.values()) == len(here.values())
    for ours, expected in zip(there.values(), here.values(), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)
    assert all(store.changes > 5 for store in there.stores)
    assert there.step.trace_count == 1


def test_a_step_may_read_what_the_optimizer_made_of_a_variable():
    here = Training(OPTIMIZERS["momentum"](), on_servers=False, reads_after=True)
    there = Training(OPTIMIZERS["momentum"](), on_servers=True, reads_after=True)
    for _ in range(3):
        np.testing.assert_allclose(there.step(ROWS, TARGETS), here.step(ROWS, TARGETS), rtol=1e-5)
    for ours, expected in zip(there.values(), here.values(), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)


def test_an_optimizer_in_a_branch_is_an_error_that_says_what_to_do():
    training = Training(OPTIMIZERS["sgd"](), on_servers=True)
    training.optimizer.build(training.model.trainable_variables)

    def step(flag):
        def apply():
            zeros = [jnp.zeros(one.shape) for one in training.model.trainable_variables]
            training.optimizer.apply(zeros, training.model.trainable_variables)

        spmd.step.cond(flag, apply, lambda: None)

    with pytest.raises(NotImplementedError, match="choose the gradients there"):
        spmd.Step(step, spmd.make_mesh(["cpu:0"]))(jnp.bool_(True))


def test_an_optimizer_that_was_built_before_its_variables_moved_is_an_error():
    variable = keras.Variable(np.ones(2, np.float32))
    optimizer = keras.optimizers.Adam(0.1)
    optimizer.build([variable])
    ServerVariables([Store()]).bind(variable)
    with pytest.raises(StateError, match="Make model and optimizer in the strategy's scope"):
        optimizer.apply([jnp.ones(2)], [variable])


def test_weights_that_do_not_decay_have_a_rule_of_their_own():
    optimizer = keras.optimizers.AdamW(0.1, weight_decay=0.5)
    decays, stays = (keras.Variable(np.ones(2, np.float32), name=name) for name in ("w", "bias"))
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    optimizer.build([decays, stays])
    operand = np.zeros(2, np.float32), np.float32(0.1), np.int32(0)
    after = []
    for variable in (decays, stays):
        rule = rule_of(optimizer, variable)
        value = np.ones(2, np.float32)
        after.append(rule.update(value, rule.slots(value), operand)[0][0])
    assert rule_of(optimizer, decays) is rule_of(optimizer, decays)
    np.testing.assert_allclose(after, [0.95, 1.0], rtol=1e-6)


def test_a_rule_can_be_sent():
    rule = rule_of(keras.optimizers.SGD(0.5), keras.Variable(np.ones(2, np.float32)))
    sent = copy.deepcopy(rule)  # by the way of pickle
    assert isinstance(sent, KerasRule)
    assert sent.key == rule.key
    ones = np.ones(2, np.float32)
    new, slots = sent.update(ones, sent.slots(ones), (ones, np.float32(0.5), np.int32(0)))
    assert (new.tolist(), slots) == ([0.5, 0.5], [])


@pytest.mark.parametrize(
    ("name", "constraint", "expected"),
    [
        ("sgd", None, True),
        ("momentum", None, False),
        ("adam", None, False),
        ("schedule, decay, clipped", None, False),
        ("accumulated", None, False),
        ("adagrad", None, True),
        # Rows may be out of bounds that get no gradient.
        ("adagrad", keras.constraints.NonNeg(), False),
        ("sgd", keras.constraints.MaxNorm(2, axis=1), False),
        ("adagrad", keras.constraints.UnitNorm(axis=0), False),
        ("lion", None, False),
    ],
)
def test_optimizers_that_leave_rows_without_a_gradient_alone(name, constraint, expected):
    others = {
        "adagrad": lambda: keras.optimizers.Adagrad(0.1),
        "lion": lambda: keras.optimizers.Lion(0.1),
    }
    optimizer = (OPTIMIZERS | others)[name]()
    variable = keras.Variable(np.ones((20, 3), np.float32))
    variable.constraint = constraint
    optimizer.build([variable])
    assert rule_of(optimizer, variable).is_by_row(np.ones((20, 3), np.float32)) is expected
