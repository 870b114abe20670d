"""The optimizers of TensorFlow 1; tests/golden compares their numbers with TensorFlow's."""

import numpy as np
import pytest

from frontends import tf

train = tf.compat.v1.train


def applied(optimizer, gradients):
    """What an optimizer makes of 1.0, step by step."""
    w, found = tf.Variable(1.0), []
    for gradient in gradients:
        optimizer.apply_gradients([(tf.constant(gradient), w)])
        found.append(float(w))
    return found


# Recorded from TensorFlow 2.21's optimizers, with the gradients 0.5, -1.0 and 0.25.
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("GradientDescent", (0.1,), [0.95, 1.05, 1.025]),
        ("Momentum", (0.1, 0.9), [0.95, 1.005, 1.0295]),
        ("Momentum", (0.1, 0.9, False, "M", True), [0.905, 1.0545, 1.05155]),
        ("Adam", (0.1,), [0.9, 0.9366102, 0.9502792]),
        ("Adagrad", (0.1,), [0.9154845, 1.0015508, 0.9805157]),
        ("RMSProp", (0.1,), [0.9480125, 1.0515685, 1.0243801]),
        ("RMSProp", (0.1, 0.8, 0.5, 0.001, False, True), [0.945478, 1.0256383, 1.0361608]),
        ("Adadelta", (1.0, 0.9, 0.01), [0.7327387, 1.0924331, 0.9719791]),
        ("Ftrl", (0.1,), [0.3809621, 0.4670284, 0.4459932]),
        (
            "Ftrl",
            (0.1, -0.6, 0.2, 0.05, 0.1, False, "F", None, None, 0.2, 0.3),
            [0.152881, 0.21269, 0.1917712],
        ),
        ("ProximalGradientDescent", (0.1, 0.3, 0.2), [0.9019607, 0.9529027, 0.8802968]),
        ("ProximalAdagrad", (0.1, 0.1, 0.3, 0.2), [0.8364965, 0.8815683, 0.8214672]),
    ],
)
def test_three_steps(name, arguments, expected):
    optimizer = getattr(train, f"{name}Optimizer")(*arguments)
    np.testing.assert_allclose(applied(optimizer, [0.5, -1.0, 0.25]), expected, rtol=1e-5)


def test_settings_may_be_functions_and_tensors():
    rate = tf.Variable(0.5)
    optimizer = train.MomentumOptimizer(lambda: rate, lambda: tf.constant(0.5))
    first = applied(optimizer, [1.0])
    rate.assign(0.25)
    assert (*first, *applied(optimizer, [1.0])) == (0.5, 0.75)
    assert applied(train.GradientDescentOptimizer(tf.constant(0.5)), [1.0]) == [0.5]


def test_the_momentum_follows_a_rate_that_changes():
    # What is accumulated is the gradient, so that a smaller rate makes the next step smaller at once.
    rates = iter([1.0, 0.1])
    optimizer = train.MomentumOptimizer(lambda: next(rates), 1.0)
    assert applied(optimizer, [1.0, 0.0]) == pytest.approx([0.0, -0.1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: train.AdagradOptimizer(0.1, 0.0), "initial_accumulator_value must be positive"),
        (lambda: train.ProximalAdagradOptimizer(0.1, -1.0), "must be positive: -1.0"),
        (lambda: train.FtrlOptimizer(0.1, 0.5), "learning_rate_power 0.5 needs to be negative"),
        (lambda: train.FtrlOptimizer(0.1, -0.5, -1.0), "initial_accumulator_value -1.0 needs"),
        (lambda: train.AdamOptimizer(name=""), "Must specify the optimizer name"),
    ],
)
def test_settings_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()
