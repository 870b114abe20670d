"""Optimizers of `tf.keras`: Keras 2's arguments, in custom loops and outside of them."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.keras.strategies import mirrored

keras = tf.keras


NAMES = ("Adadelta", "Adagrad", "Adam", "Adamax", "AdamW", "Ftrl", "Nadam", "RMSprop", "SGD")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in ("Ftrl", "Nadam") else pytest.mark.slow) for n in NAMES],
)
def test_the_first_step_makes_an_optimizers_state(name):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        optimizer = getattr(tf.keras.optimizers, name)(0.1)
        weight = tf.Variable([1.0, 2.0])

    def step():
        optimizer.apply_gradients([(tf.constant([0.5, 0.25]), weight)])

    alone = getattr(keras.optimizers, name)(0.1)
    expected = keras.Variable(np.array([1.0, 2.0], np.float32))
    alone.build([expected])
    for _ in range(2):
        strategy.run(step)
        alone.apply([np.array([1.0, 0.5], np.float32)], [expected])  # the sum over two replicas
    np.testing.assert_allclose(weight.numpy(), np.array(expected.value), rtol=1e-6)
    assert int(optimizer.iterations.numpy()) == 2


def test_the_learning_rate_is_lr():
    assert float(keras.optimizers.SGD(lr=1).learning_rate) == 1.0
    assert float(keras.optimizers.SGD(tf.constant(0.5)).learning_rate) == 0.5
    optimizer = keras.optimizers.Adam(0.5)
    assert float(optimizer.lr) == 0.5
    optimizer.lr = 0.25
    assert keras.backend.get_value(optimizer.lr) == np.float32(0.25)
    keras.backend.set_value(optimizer.lr, 0.125)
    assert optimizer.learning_rate.numpy() == np.float32(0.125)


def test_a_rate_that_is_called_lr_decays():
    weight = tf.Variable(0.0)
    optimizer = keras.optimizers.SGD(lr=0.5, decay=1.0)
    again = keras.optimizers.SGD.from_config(optimizer.get_config())
    for one in (optimizer, again):
        for _ in range(2):
            one.apply_gradients([(tf.constant(-1.0), weight)])
        assert float(one.lr) == 0.5
    assert weight.numpy() == 2 * (0.5 + 0.25)


def test_a_decay_beside_learning_rate_is_ignored_with_a_warning():
    weight = tf.Variable(0.0)
    with pytest.warns(UserWarning, match="`decay` is no longer supported and will be ignored"):
        optimizer = keras.optimizers.SGD(learning_rate=0.5, decay=1.0)
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant(-1.0), weight)])
    assert weight.numpy() == 1.0


@pytest.mark.parametrize("make", [keras.Variable, tf.Variable])
def test_apply_gradients_outside_of_any_strategy(make):
    variable = make(np.float32([1.0, 2.0]))
    optimizer = keras.optimizers.SGD(0.5, momentum=0.5)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(variable))
    gradients = tape.gradient(loss, [variable])
    pairs = zip(gradients, [variable], strict=True)
    assert optimizer.apply_gradients(pairs, name="step").numpy() == 1
    np.testing.assert_allclose(variable.numpy(), [0.0, 0.0])
    pairs = [(tf.ones(2), variable)]
    optimizer.apply_gradients(pairs, skip_gradients_aggregation=True)
    optimizer.apply_gradients(pairs, experimental_aggregate_gradients=False)
    assert optimizer.iterations.numpy() == 3


@pytest.mark.parametrize("replicas", [0, 2])
def test_gradients_gathered_in_variables(replicas):
    weight = keras.Variable(np.float32([1.0, 2.0]))
    gathered = [tf.Variable([0.0, 0.0], trainable=False)]
    optimizer = keras.optimizers.SGD(1.0)

    def gather():
        gathered[0].assign_add([0.25, 0.25])

    def apply():
        optimizer.apply_gradients(zip(gathered, [weight], strict=True))

    call = mirrored(replicas).run if replicas else lambda function: function()
    call(gather)
    call(gather)
    call(apply)
    np.testing.assert_allclose(weight.numpy(), np.float32([1, 2]) - 0.5 * (replicas or 1))


def test_nothing_to_apply():
    variable, optimizer = tf.Variable(1.0, name="v"), keras.optimizers.SGD(0.5)
    assert optimizer.apply_gradients([]).numpy() == 0
    with pytest.raises(ValueError, match=r"^No gradients provided for any variable: \['v:0'\]"):
        optimizer.apply_gradients([(None, variable)])
    assert optimizer.iterations.numpy() == 0


class _Doubled(keras.optimizers.SGD):
    def apply_gradients(self, grads_and_vars, name=None, experimental_aggregate_gradients=True):
        pairs = [(2 * gradient, variable) for gradient, variable in grads_and_vars]
        return super().apply_gradients(
            pairs, name, experimental_aggregate_gradients=experimental_aggregate_gradients
        )


@pytest.mark.parametrize(("aggregate", "expected"), [(True, -3.0), (False, -1.0)])
def test_a_subclass_may_change_apply_gradients(aggregate, expected):
    variable, optimizer = keras.Variable(np.float32(1.0)), _Doubled(1.0)

    def apply():
        optimizer.apply_gradients(
            [(tf.ones(()), variable)], experimental_aggregate_gradients=aggregate
        )

    mirrored().run(apply)
    assert variable.numpy() == expected


def test_apply_gradients_is_for_replicas():
    variable = keras.Variable(np.float32([1.0]))
    optimizer = keras.optimizers.SGD(0.5)

    def apply():
        optimizer.apply_gradients([(tf.ones(1), variable)])

    strategy = mirrored()
    with (
        strategy.scope(),
        pytest.raises(RuntimeError, match=r"cross-replica context.*strategy\.run"),
    ):
        apply()
    with strategy.scope():
        strategy.run(apply)
    np.testing.assert_allclose(variable.numpy(), [0.0])
    tf.distribute.get_strategy().run(apply)
    np.testing.assert_allclose(variable.numpy(), [-0.5])


@pytest.mark.parametrize("replicas", [0, 1, 2])
def test_minimize(replicas):
    variable = keras.Variable(np.float32(2.0))
    optimizer = keras.optimizers.SGD(0.25)

    def train():
        optimizer.minimize(lambda: variable * variable, [variable])
        with tf.GradientTape() as tape:
            loss = variable * variable
        optimizer.minimize(loss, [variable], tape=tape)

    mirrored(replicas).run(train) if replicas else train()
    # Every replica's gradient counts.
    assert variable.numpy() == {0: 0.5, 1: 0.5, 2: 0.0}[replicas]
    with pytest.raises(ValueError, match="tape=tape"):
        optimizer.minimize(tf.ones(()), [variable])


@pytest.mark.parametrize("replicas", [0, 2])
@pytest.mark.parametrize("spelling", ["Keras 2", "Keras 3"])
def test_loss_scaling(replicas, spelling):
    variable = keras.Variable(np.float32([1.0, 2.0]))
    optimizer = keras.mixed_precision.LossScaleOptimizer(
        keras.optimizers.SGD(0.5 / (replicas or 1)), initial_scale=4.0, dynamic_growth_steps=3
    )

    def train(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(variable * x)
            scaled = (
                optimizer.get_scaled_loss(loss)
                if spelling == "Keras 2"
                else optimizer.scale_loss(loss)
            )
        gradients = tape.gradient(scaled, [variable])
        if spelling == "Keras 2":
            gradients = optimizer.get_unscaled_gradients(gradients)
        optimizer.apply_gradients(zip(gradients, [variable], strict=True))

    def step(x):
        mirrored(replicas).run(train, args=(tf.constant(x),)) if replicas else train(tf.constant(x))

    assert float(optimizer.loss_scale) == 4.0
    for _ in range(3):
        step([1.0, 0.0])
    np.testing.assert_allclose(variable.numpy(), [-0.5, 2.0])
    assert float(optimizer.loss_scale) == 8.0, "three finite gradients"
    step([np.inf, 1.0])
    np.testing.assert_allclose(variable.numpy(), [-0.5, 2.0])
    assert float(optimizer.loss_scale) == 4.0
    assert optimizer.iterations.numpy() == 3
    assert optimizer.get_scaled_loss(lambda: 2.0)() == 8.0


def test_unscaled_gradients_may_be_clipped():
    variable = keras.Variable(np.float32([1.0]))
    optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(1.0))
    with tf.GradientTape() as tape:
        scaled = optimizer.get_scaled_loss(tf.reduce_sum(variable * 8.0))
    gradients = optimizer.get_unscaled_gradients(tape.gradient(scaled, [variable]))
    assert float(gradients[0][0]) == 8.0
    clipped, _ = tf.clip_by_global_norm(gradients, 0.5)
    optimizer.apply_gradients(zip(clipped, [variable], strict=True))
    np.testing.assert_allclose(variable.numpy(), [0.5])


def test_the_style_of_keras_3_after_that_of_keras_2():
    variable = keras.Variable(np.float32([1.0]))
    optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(1.0), 4.0)
    optimizer.build([variable])
    optimizer.get_unscaled_gradients([tf.ones(1)])  # and the step failed
    with tf.GradientTape() as tape:
        scaled = optimizer.scale_loss(tf.reduce_sum(variable * 8.0))
    optimizer.apply_gradients([(tape.gradient(scaled, variable), variable)])
    np.testing.assert_allclose(variable.numpy(), [-7.0])


def test_a_schedule_may_hold_a_variable():
    class Halved(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self):
            self.now = tf.Variable(0.1, trainable=False)

        def __call__(self, step):
            self.now.assign(tf.cond(step >= 2, lambda: 0.05, lambda: 0.1))
            return self.now

    schedule, v = Halved(), tf.Variable(1.0)
    optimizer = tf.keras.optimizers.SGD(schedule)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = v * v
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        return v.read_value()

    np.testing.assert_allclose([step() for _ in range(4)], [0.8, 0.64, 0.576, 0.5184], rtol=1e-6)
    assert schedule.now == 0.05


@pytest.mark.parametrize("how", ["run", "fit"])
def test_the_learning_rate_may_be_a_variable(how, tmp_path):
    strategy = mirrored()
    with strategy.scope():
        rate = tf.Variable(0.25, trainable=False)
        optimizer = keras.optimizers.SGD(rate)
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
        model.compile(optimizer, lambda y, p: p)

    def step():
        weights = model.trainable_variables
        optimizer.apply_gradients([(tf.ones_like(weights[0]) / 2, weights[0])])

    def change():
        before = model.get_weights()[0]
        strategy.run(step) if how == "run" else model.fit(
            np.ones((2, 1)), np.ones((2, 1)), verbose=0
        )
        return float((before - model.get_weights()[0]).item())

    assert change() == pytest.approx(0.25)
    rate.assign(0.5)
    assert change() == pytest.approx(0.5)
    optimizer.learning_rate = 1.0
    assert (float(rate), float(optimizer.lr)) == (1.0, 1.0)
    assert change() == pytest.approx(1.0)
    optimizer.learning_rate.assign(0.125)
    assert optimizer.get_config()["learning_rate"] == 0.125
    optimizer.learning_rate = keras.optimizers.schedules.ExponentialDecay(0.5, 10, 0.5)
    assert float(optimizer.learning_rate) < 0.5
