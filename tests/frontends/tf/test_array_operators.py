"""Lists, and arrays on different devices, as operands of arrays: this file runs on every supported version."""

import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import source_info_util

from frontends import tf
from frontends.tf._array_operators import OPERATORS

BINARY = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.pow, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge),
)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("operate", BINARY)
@pytest.mark.parametrize("kind", [list, tuple])
def test_lists(operate, kind, compiled):
    values = np.array([1.0, 4.0, 2.0], np.float32)
    listed = kind([3, 2, 2])

    def both(x):
        return operate(x, listed), operate(listed, x)

    found = (tf.function(both) if compiled else both)(tf.constant(values))
    numbers = np.array(listed, np.float32)
    for array, expected in zip(
        found, (operate(values, numbers), operate(numbers, values)), strict=True
    ):
        assert array.dtype == expected.dtype
        np.testing.assert_allclose(array, expected, rtol=1e-6)


def test_lists_of_other_kinds():
    flags, counts = tf.constant([True, False]), tf.constant([6, 5])
    assert (flags & [True, True]).tolist() == ([True, True] & flags).tolist() == [True, False]
    assert (counts << [1, 2]).tolist() == [12, 20]
    assert ([[1, 2]] @ counts).tolist() == [16]
    assert (tf.constant(2) * [1, 2]).tolist() == ([1, 2] * tf.constant(2)).tolist() == [2, 4]
    assert [part.tolist() for part in divmod(counts, [4, 4])] == [[1, 1], [2, 1]]
    assert (counts * counts.shape).tolist() == [12, 10]
    assert (tf.Variable([1.0, 2.0]) * [2, 3] + (1, 1)).tolist() == [3, 7]
    assert (counts + [tf.constant(1), 2]).tolist() == [7, 7]  # noqa: RUF005


def test_a_list_that_loses_its_fraction_is_refused():
    with pytest.raises(TypeError, match=r"Cannot convert \[1.5\] .*int32"):
        tf.constant([1]) + [1.5]  # noqa: RUF005


def test_other_operands_stay_jaxs():
    x = jnp.ones(2)
    assert (x == None) is False  # noqa: E711
    for wrong in ({}, "text", object()):
        with pytest.raises(TypeError):
            x + wrong
    with pytest.raises((TypeError, ValueError), match=r"[Ii]ncompatible shapes"):
        x + jnp.ones(3)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("operate", "text"),
    [
        (lambda x: x + None, r"x \+ y: expected .* got None \(NoneType\)"),
        (lambda x: None * x, r"y \* x: expected .* got None"),
        (lambda x: x - "a", r"x - y: expected .* got 'a' \(str\)"),
        (lambda x: "a" + x, r"y \+ x: expected .* got 'a'"),
        (lambda x: x < "a", r"x < y: expected .* got 'a'"),
        (lambda x: divmod(x, {}), r"divmod\(x, y\): expected .* got \{\} \(dict\)"),
        (lambda x: x + tf.ones([3]), r"x \+ y: .*\(2,\), \(3,\).* float32\[2\], float32\[3\]"),
        (lambda x: x >= tf.ones([3]), r"x >= y: .*\(2,\), \(3,\)"),
        (lambda x: x @ tf.ones([3, 2]), r"x @ y: .*float32\[3, 2\]"),
        (lambda x: x & x, r"x & y: .*float32"),
    ],
)
def test_what_does_not_fit_is_caught_as_in_tensorflow(operate, text, compiled):
    # The three classes of the `except` clauses that are written for it.
    for kind in (tf.errors.InvalidArgumentError, ValueError, TypeError):
        with pytest.raises(kind, match=text):
            (tf.function(operate) if compiled else operate)(tf.constant([1.0, 2.0]))


@pytest.mark.parametrize("compiled", [False, True])
def test_arrays_of_shapes_that_do_not_fit_are_not_equal(compiled):
    def compare(x):
        return x == tf.ones([3]), x != tf.ones([3]), tf.ones([2, 1]) == x

    equal, unequal, fits = (tf.function(compare) if compiled else compare)(tf.constant([1.0, 2.0]))
    assert (equal.tolist(), unequal.tolist()) == (False, True)
    assert fits.tolist() == [[True, False], [True, False]]


def test_an_operand_of_another_class_is_asked():
    class Other:
        def __radd__(self, x):
            return "asked"

        def __gt__(self, x):
            return "asked, too"

    x = tf.constant([1.0, 2.0])
    assert x + Other() == "asked"
    assert (x < Other()) == "asked, too"
    assert "ab" * tf.constant(2) == "abab"


def replicas_values():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])

    def replica():
        index = tf.distribute.get_replica_context().replica_id_in_sync_group
        return tf.cast(index, tf.float32) + tf.constant([1.0, 2.0])

    return strategy, strategy.run(replica)


def test_values_of_replicas():
    strategy, value = replicas_values()
    first, second = value.values
    assert first.devices() != second.devices()
    assert (first + second).tolist() == sum(value.values).tolist() == [3, 5]
    assert (second - first).tolist() == [1, 1]
    assert (first == second).tolist() == [False, False]
    assert (first < second).tolist() == (first != second).tolist() == [True, True]
    assert np.mean(value.values) == np.mean(strategy.experimental_local_results(value)) == 2
    assert (first @ second).tolist() == 8
    assert (first + second).devices() == first.devices()


def test_values_of_replicas_and_a_variable():
    strategy, value = replicas_values()
    with strategy.scope():
        variable = tf.Variable([10.0, 20.0])
    assert (
        (variable + value.values[1]).tolist() == (value.values[1] + variable).tolist() == [12, 23]
    )
    variable.assign_add(value.values[1])
    assert variable.numpy().tolist() == [12, 23]
    strategy.run(lambda: variable.assign_add(tf.ones(2)))
    assert variable.numpy().tolist() == [13, 24]


@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_over_devices(compiled):
    _, value = replicas_values()
    first, second = value.values

    def gradients(first, second):
        with tf.GradientTape() as tape:
            tape.watch([first, second])
            loss = tf.reduce_sum(first * second * [1.0, 2.0])
        return tape.gradient(loss, [first, second])

    found = (tf.function(gradients) if compiled else gradients)(first, second)
    assert [gradient.tolist() for gradient in found] == [[2, 6], [1, 4]]


def test_the_line_of_an_operation_is_the_users():
    (operation,) = jax.make_jaxpr(lambda x: x * 2)(1.0).jaxpr.eqns
    assert "test_array_operators.py" in source_info_util.summarize(operation.source_info)


def test_every_operator_exists():
    for name in OPERATORS:
        assert callable(getattr(jax.Array, name))
        assert getattr(type(jnp.ones(())), name).__wrapped__


@pytest.mark.parametrize("compiled", [False, True])
def test_large_integers(compiled):
    large = -(2**32) + 1

    def run(function, *args):
        return (tf.function(function) if compiled else function)(*args)

    x = tf.constant([0.0, 1.0])
    for function in (
        lambda x: x * large,
        lambda x: large * x,
        lambda x: tf.multiply(x, large),
        lambda x: tf.where(x > 0, large, x),
    ):
        result = run(function, x)
        assert (result.dtype, result.tolist()) == (tf.float32, [0, large - 1])
    assert run(lambda x: x * large, tf.cast(x, tf.bfloat16)).dtype == tf.bfloat16
    for function in (lambda i: i * large, lambda i: tf.add(i, large)):
        with pytest.raises(OverflowError, match=r"do not fit in int32.*jax_enable_x64"):
            run(function, tf.constant([1, 2]))
