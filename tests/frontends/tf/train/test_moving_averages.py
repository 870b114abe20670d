"""Moving averages; tests/golden compares their numbers with TensorFlow's."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph
from tests.frontends.tf.compat.v1.train.models import Model, run
from tests.frontends.tf.distribute.replicas import mirrored

v1 = tf.compat.v1
Average = tf.train.ExponentialMovingAverage


def test_an_average_starts_with_the_value_at_which_it_is_made_and_follows():
    w, averages = tf.Variable(1.0, name="w"), Average(0.5)
    assert averages.average(w) is None
    averages.apply([w])
    w.assign(5.0)
    averages.apply([w])
    assert (float(averages.average(w)), averages.average(w).name) == (3, f"w/{averages.name}:0")
    assert v1.train.ExponentialMovingAverage is Average


def test_an_average_that_a_step_makes_starts_with_the_value_before_the_step():
    w, averages = tf.Variable(0.0), Average(0.5)
    w.assign(2.0)

    @tf.function
    def step():
        w.assign_add(4.0)
        averages.apply([w])

    step()
    assert float(averages.average(w)) == 0.5 * 2 + 0.5 * 6
    step()
    assert float(averages.average(w)) == 0.5 * 4 + 0.5 * 10


def test_few_updates_make_it_follow_faster():
    w, count = tf.Variable(1.0), tf.Variable(0)
    averages = Average(0.9, num_updates=count)
    averages.apply([w])
    w.assign(3.0)
    count.assign(2)
    averages.apply([w])
    assert float(averages.average(w)) == pytest.approx(0.25 * 1 + 0.75 * 3)


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_model_function_averages_after_training(replicas):
    def model_fn(x, y):
        w = v1.get_variable("w", [], initializer=tf.zeros_initializer())
        averages = Average(0.5, name="shadow")
        trained = w.assign_add(2.0)
        with tf.control_dependencies([trained]):
            operation = averages.apply()
        assert v1.moving_average_variables() == [w]
        assert averages.average_name(w) == "w/shadow"
        return averages.average(w), operation

    model = Model(model_fn)
    assert run(model, replicas, 3) == [1, 2.5, 4.25]
    assert model.names() == ["w", "w/shadow"]
    assert model.value("w/shadow") == 4.25


@pytest.mark.parametrize("debiased", [False, True])
def test_a_model_function_averages_a_tensor_over_replicas(debiased):
    def model_fn(x, y):
        loss = tf.identity(tf.reduce_sum(x), name="loss")
        return loss, Average(0.75, zero_debias=debiased).apply([loss])

    model = Model(model_fn)
    x = np.array([[1.0], [3.0]], np.float32)
    run(model, 2, 2, x, x)
    average = model.value("loss/ExponentialMovingAverage")
    biased = 0.25 * 2 + 0.75 * 0.25 * 2  # replicas have 1 and 3
    assert average == pytest.approx(biased / (1 - 0.75**2) if debiased else biased)


def test_what_an_evaluation_is_to_restore():
    with Graph().as_default():
        w, other = (v1.get_variable(name, [], trainable=name == "w") for name in ("w", "other"))
        averages = Average(0.9)
        averages.apply([w])
        found, plain = averages.variables_to_restore(), averages.variables_to_restore([])
        held = averages.average(w)
        assert averages.average_name(other) == "other/ExponentialMovingAverage"
    assert sorted(found) == ["other", "w/ExponentialMovingAverage"]
    assert found["other"] is other
    assert found["w/ExponentialMovingAverage"] is w
    assert sorted(plain) == ["other", "w", "w/ExponentialMovingAverage"]
    assert plain["w/ExponentialMovingAverage"] is held


def test_only_floating_point_variables_have_averages():
    with pytest.raises(TypeError, match="must be half, float, or double"):
        Average(0.9).apply([tf.Variable(1)])
    with pytest.raises(TypeError, match=r"Make it a variable: tf.Variable\(value\)"):
        Average(0.9).apply([tf.constant(1.0)])


def test_replicas_keep_one_average():
    strategy = mirrored(2)
    with strategy.scope():
        w, averages = tf.Variable(1.0), Average(0.5)
    strategy.run(lambda: averages.apply([w]))
    w.assign(3.0)
    strategy.run(lambda: averages.apply([w]))
    assert float(averages.average(w)) == 2
