"""Learning rates; tests/golden compares their numbers with TensorFlow's."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph

train = tf.compat.v1.train

# Recorded from TensorFlow 2.21: the rates at the steps 0, 3 and 7.
RATES = [
    ("exponential_decay", (0.1, 4, 0.5), [0.1, 0.0594604, 0.0297302]),
    ("natural_exp_decay", (0.1, 4, 0.5, True), [0.1, 0.1, 0.0606531]),
    ("inverse_time_decay", (0.1, 4, 0.5), [0.1, 0.0727273, 0.0533333]),
    ("polynomial_decay", (0.1, 4, 0.01, 0.5, True), [0.1, 0.055, 0.0418198]),
    ("cosine_decay", (0.1, 6), [0.1, 0.05, 0.0]),
    ("cosine_decay_restarts", (0.1, 3), [0.1, 0.1, 0.025]),
    ("linear_cosine_decay", (0.1, 8), [0.1001, 0.0433089, 0.0005758]),
    ("noisy_linear_cosine_decay", (0.1, 8, 0.0), [0.1001, 0.0433089, 0.0005758]),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), RATES)
def test_a_rate_is_a_tensor_in_a_model_function_and_a_function_elsewhere(name, arguments, expected):
    first, *rest = arguments
    make = getattr(train, name)
    step, found = tf.Variable(0), []
    rate = make(first, step, *rest)
    for now in (0, 3, 7):
        step.assign(now)
        found.append(float(rate()))
        with Graph().as_default():
            assert float(make(first, step, *rest)) == found[-1]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-8)


def test_a_rate_of_intervals():
    rates = train.piecewise_constant_decay
    assert rates is train.piecewise_constant
    found = [float(rates(tf.constant(x), [3, 6], [0.3, 0.2, 0.1])()) for x in (0, 3, 4, 6, 7)]
    assert found == pytest.approx([0.3, 0.3, 0.2, 0.2, 0.1])
    with pytest.raises(ValueError, match="2 boundaries and 2 values"):
        rates(0, [1, 2], [0.1, 0.2])
    with pytest.raises(ValueError, match="must have the same dtype as x"):
        rates(0, [1.5], [0.1, 0.2])


def test_noise_differs_from_step_to_step_and_falls():
    def spread(step):
        rate = train.noisy_linear_cosine_decay(1.0, step, 1000, 4.0, 1.0)
        return np.std([float(rate()) for _ in range(30)])

    assert spread(0) > 1 > spread(63) > 0
