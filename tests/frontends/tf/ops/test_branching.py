"""`tf.cond`, `tf.case` and `tf.switch_case`; the numbers are TensorFlow's."""

import jax
import pytest

from frontends import tf
from tests.frontends.tf.ops.running import everywhere


@pytest.mark.parametrize(
    ("x", "expected"), [(3.0, {"a": 6.0, "b": [1]}), (1.0, {"a": 0.0, "b": [2]})]
)
def test_cond_of_structures(x, expected):
    def function(x):
        return tf.cond(x > 1, lambda: {"a": x * 2, "b": [1]}, lambda: {"a": 0.0, "b": [2]})

    assert everywhere(function, x) == expected


def test_cond_calls_one_function_where_it_knows_the_condition():
    called = []
    tf.cond(tf.constant(True), lambda: called.append(1), lambda: called.append(2))
    tf.function(lambda: tf.cond(True, lambda: called.append(3), lambda: called.append(4)))()
    assert called == [1, 3]
    assert jax.grad(lambda x: tf.cond(x > 1, lambda: x * 2, lambda: x))(3.0) == 2


def test_branches_that_return_nothing():
    assert tf.function(lambda x: tf.cond(x > 1, lambda: None, lambda: None))(tf.constant(2)) is None


def test_gradient_of_a_branch():
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x > 1, lambda: x**3, lambda: x)
        return tape.gradient(y, x)

    assert everywhere(gradient, 2.0) == 12
    assert everywhere(gradient, 0.5) == 1


def test_variables_assigned_in_branches():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        variable = tf.Variable(1.0)

    def step(index):
        tf.cond(index > 1, lambda: variable.assign_add(10.0), lambda: variable.assign(5.0))
        tf.switch_case(
            index, [lambda: variable.assign_add(100.0), lambda: variable.assign_sub(1.0)]
        )
        tf.case([(index > 5, lambda: variable.assign(0.0))], default=variable.read_value)

    run = tf.function(lambda index: strategy.run(step, (index,)))
    run(tf.constant(0))
    assert variable.numpy() == 105
    run(tf.constant(2))
    assert variable.numpy() == 114
    run(tf.constant(9))
    assert variable.numpy() == 0


def test_branches_must_return_the_same():
    with pytest.raises(TypeError, match="both"):
        tf.cond(True, lambda: 1)
    with pytest.raises(TypeError, match="'true_fn' must be callable"):
        tf.cond(True, 1, 2)
    x = tf.constant(1.0)
    for other in (lambda: [x], lambda: tf.stack([x, x]), lambda: tf.constant(1)):
        with pytest.raises(TypeError, match="Return the same"):
            tf.function(lambda x, other=other: tf.cond(x > 0, lambda: x, other))(x)


@pytest.mark.parametrize(("x", "expected"), [(0.0, 1), (2.0, 2), (5.0, -1)])
def test_case(x, expected):
    def function(x):
        return tf.case([(x < 1, lambda: 1), (x < 3, lambda: 2)], default=lambda: -1)

    assert everywhere(function, x) == expected


def test_case_without_a_condition_that_holds():
    x = tf.constant(2.0)
    with pytest.raises(ValueError, match="None of the conditions"):
        tf.case([(x < 1, lambda: 1)])
    with pytest.raises(ValueError, match="exclusive"):
        tf.case([(x > 0, lambda: 1), (x > 1, lambda: 2)], exclusive=True)
    assert tf.case([(x > 0, lambda: 1), (x > 1, lambda: 2)]) == 1
    for pairs, text in ({True: 1}, "list or tuple"), ([1], "pair"), ([(True, 1)], "callable"):
        with pytest.raises(TypeError, match=text):
            tf.case(pairs)


def test_a_program_counts_the_conditions_that_hold():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])

    def exclusive(x):
        return tf.case([(x > 0, lambda: x), (x > 5, lambda: -x)], lambda: x * 10, exclusive=True)

    def without_default(x):
        return tf.case([(x > 0, lambda: x), (x > -5, lambda: -x)])

    def in_replicas(function):
        return lambda x: strategy.run(function, args=(x,)).values[1]

    for wrap in (tf.function, in_replicas):
        call = wrap(exclusive)
        assert (int(call(tf.constant(3))), int(call(tf.constant(-2)))) == (3, -20)
        with pytest.raises(tf.errors.InvalidArgumentError, match="More than one condition"):
            call(tf.constant(6))
        assert int(call(tf.constant(4))) == 4
        call = wrap(without_default)
        assert (int(call(tf.constant(3))), int(call(tf.constant(-2)))) == (3, 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="None of the conditions"):
            call(tf.constant(-6))


@pytest.mark.parametrize(("index", "expected"), [(0, 7), (1, 8), (2, 8), (-1, 8)])
def test_switch_case_takes_the_last_function_by_default(index, expected):
    assert everywhere(lambda i: tf.switch_case(i, [lambda: 7, lambda: 8]), index) == expected
    by_index = {1: lambda: 8, 0: lambda: 7}
    assert everywhere(lambda i: tf.switch_case(i, by_index), index) == expected


def test_switch_case_with_a_default():
    pairs = [(1, lambda: 8), (0, lambda: 7)]
    assert everywhere(lambda i: tf.switch_case(i, pairs, default=lambda: 9), -3) == 9
    for functions, error, text in [
        (3, TypeError, "list, tuple or dict"),
        ([], ValueError, "empty"),
        ([1], TypeError, "a function or a pair"),
        ({0: lambda: 1, 2: lambda: 2}, ValueError, "contiguous"),
    ]:
        with pytest.raises(error, match=text):
            tf.switch_case(0, functions)
