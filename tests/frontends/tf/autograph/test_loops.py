"""`while` and `for` on tensors."""

from typing import Any

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.autograph.helpers import both

# Here, since Keras sets variables of the environment when it is imported.
Mean = tf.keras.metrics.Mean


def test_while() -> None:
    def collatz(n):
        steps = 0
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    assert [both(collatz, n) for n in (1, 27)] == [0, 111]


def test_break_continue_and_return() -> None:
    def odd_sum(limit):
        total = 0
        for i in tf.range(100):
            if i % 2 == 0:
                continue
            if total > limit:
                break
            total += i
        return total

    def first_above(limit):
        for i in tf.range(10):
            if i * i > limit:
                return i
        return -1

    assert both(odd_sum, 20) == 25
    assert [both(first_above, x) for x in (10, 200)] == [4, -1]


def test_over_rows_enumerate_and_zip() -> None:
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)

    def total(x):
        found = tf.zeros(2)
        for row in x:
            found += row
        return found

    def weighted(x):
        found = 0.0
        for i, row in enumerate(x):
            found += tf.cast(i, tf.float32) * tf.reduce_sum(row)
        return found

    def products(x):
        found = 0.0
        for a, b in zip(x, x * 2.0):  # noqa: B905  as scripts write it
            found += tf.reduce_sum(a * b)
        return found

    assert both(total, rows) == [6, 9]
    assert both(weighted, rows) == 23
    assert both(products, rows) == 110


def test_a_range_whose_end_is_a_tensor() -> None:
    def total(n):
        found = 0
        for i in tf.range(n):
            found += i
        for i in range(1, n, 2):
            found += 10 * i
        return found

    @tf.function
    def program(n):
        return total(n)

    assert [int(program(tf.constant(n))) for n in (0, 4, 6)] == [0, 46, 105]
    assert program.experimental_get_tracing_count() == 1
    summed = tf.function(lambda n: tf.reduce_sum(tf.range(n)))
    with pytest.warns(UserWarning, match=r"runs as Python.* Loop over it with"):
        assert int(summed(tf.constant(3))) == 3


def test_a_first_value_in_the_loop() -> None:
    def last(n):
        i = 0
        while i < n:
            x = i * 10
            i += 1
        return x

    assert both(last, 4) == 30


def test_python_loops_that_a_tensor_ends() -> None:
    def count(x):
        turns = 0
        while True:
            x = x / 2
            turns += 1
            if x < 1.0:
                break
        for i in range(3):
            if x > 0.1 * i:
                turns += 10
            else:
                break
        return turns

    assert [both(count, x) for x in (100.0, 1.0)] == [37, 31]


def test_lists_become_arrays() -> None:
    def squares(x):
        found = []
        for value in x:
            found.append(value * value)
        return tf.stack(found)

    assert both(squares, np.arange(4.0, dtype=np.float32)) == [0, 1, 4, 9]

    def grows(n):
        found = []
        for i in tf.range(n):
            found.append(i)
        return found

    with pytest.raises(TypeError, match=r"found = tf.TensorArray"):
        tf.function(grows)(tf.constant(3))


def test_state_in_loops() -> None:
    calls = tf.Variable(0)
    mean = Mean()

    @tf.function
    def run(n):
        for i in tf.range(n):
            calls.assign_add(2)
            mean.update_state(tf.cast(i, tf.float32))

    run(tf.constant(4))
    assert (int(calls.numpy()), float(mean.result())) == (8, 1.5)


def test_gradients_through_loops() -> None:
    @tf.function
    def power(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.constant(1.0)
            for _ in tf.range(3):
                y = y * x
        return tape.gradient(y, x)

    @tf.function
    def doubled(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            while y < 20.0:
                tf.autograph.experimental.set_loop_options(maximum_iterations=8)
                y = y * 2.0
        return tape.gradient(y, x)

    @tf.function
    def unbounded(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            while y < 20.0:
                y = y * 2.0
        return tape.gradient(y, x)

    assert float(power(tf.constant(2.0))) == 12
    assert float(doubled(tf.constant(3.0))) == 8
    assert float(unbounded(tf.constant(3.0))) == 8
    assert float(unbounded(tf.constant(30.0))) == 1


def test_gradients_through_loops_that_end_early_and_nest() -> None:
    @tf.function
    def slope(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for i in tf.range(n):
                if tf.cast(i, tf.float32) > x:
                    break
                for _ in tf.range(i + 1):
                    y = y * x
        return y, tape.gradient(y, x)

    for x, n, power in ((2.0, 1, 2), (2.0, 9, 7), (1.5, 2, 4), (5.0, 0, 1)):
        y, gradient = slope(tf.constant(x), tf.constant(n))
        np.testing.assert_allclose([y, gradient], [x**power, power * x ** (power - 1)], rtol=1e-5)


def test_a_loop_that_prints_has_a_gradient_with_a_bound(capfd) -> None:
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            while y < 10.0:
                tf.autograph.experimental.set_loop_options(maximum_iterations=bound)
                tf.print("y", y)
                y = y * 2.0
        return tape.gradient(y, x)

    bound = None
    with pytest.raises(TypeError, match=r"calls the host.*set_loop_options\(maximum_iterations="):
        tf.function(slope)(tf.constant(3.0))
    bound = 8
    capfd.readouterr()
    assert float(tf.function(slope)(tf.constant(3.0))) == 4
    assert capfd.readouterr().err.split() == ["y", "3", "y", "6"]


def test_optimizers_step_in_loops() -> None:
    weight: Any = tf.Variable(4.0)
    optimizer = tf.keras.optimizers.SGD(0.25)

    @tf.function
    def descend():
        for _ in tf.range(3):
            with tf.GradientTape() as tape:
                loss = weight * weight
            optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])

    descend()
    assert float(weight.numpy()) == 0.5
    assert int(optimizer.iterations) == 3


def test_over_datasets() -> None:
    dataset = tf.data.Dataset.range(6)

    @tf.function
    def total():
        found = tf.constant(0)
        for x in dataset:
            if x % 2 == 0:
                continue
            if x > 4:
                break
            found += tf.cast(x, tf.int32)
        return found

    assert int(total()) == 4


def test_what_cannot_be_says_why() -> None:
    def shape(n):
        x = tf.zeros(1)
        for _ in tf.range(n):
            x = tf.concat([x, x], 0)
        return x

    def dtype(n):
        x = 0
        for _ in tf.range(n):
            x = x + 0.5
        return x

    def structure(n):
        x = 0
        while n > 0:
            x, n = (n, n), n - 1
        return x

    def endless(x):
        for i in iter([1, 2]):
            if x > i:
                break
        return x

    for function, error, match in (
        (shape, ValueError, r"'x' has shape \(1,\) before the loop, but shape \(2,\) after"),
        (dtype, TypeError, "'x' has dtype int32 before the loop, but dtype float32 after"),
        (structure, ValueError, "'x' has another structure"),
        (endless, TypeError, "length is not known"),
    ):
        with pytest.raises(error, match=match):
            tf.function(function)(tf.constant(3))


@pytest.mark.parametrize("start", [0, np.int32(0)], ids=["number", "tensor"])
def test_an_index_that_counts_the_turns_fills_a_growing_array(start) -> None:
    @tf.function
    def doubled(x):
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        i = start if isinstance(start, int) else tf.constant(start)
        for value in x:
            rows = rows.write(i, value * 2.0)
            i += 1
        return rows.stack(), i

    rows, count = doubled(tf.constant([1.0, 2.0, 3.0]))
    assert (rows.tolist(), int(count)) == ([2.0, 4.0, 6.0], 3)
    rows, count = doubled(tf.zeros([0]))
    assert (rows.tolist(), int(count)) == ([], 0)


def test_an_index_that_may_stay_is_no_count() -> None:
    @tf.function
    def kept(x):
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        i = 0
        for value in x:
            if value > 1.0:
                rows = rows.write(i, value)
                i += 1
        return rows.stack()

    with pytest.warns(UserWarning, match="runs as Python.*known only when the program runs"):
        assert kept(tf.constant([1.0, 2.0, 3.0])).tolist() == [2.0, 3.0]


def test_arrays_that_grow_are_unrolled_where_the_turns_are_known() -> None:
    traced = []

    @tf.function
    def running_sums(start):
        traced.append(0)
        found = tf.expand_dims(start, 0)
        for _ in tf.range(3):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(found, tf.TensorShape([None]))]
            )
            found = tf.concat([found, [tf.reduce_sum(found)]], 0)
        return found

    for start in (1.0, 2.0):
        assert running_sums(tf.constant(start)).tolist() == [start, start, 2 * start, 4 * start]
    assert len(traced) == 1

    @tf.function
    def too_many(x):
        for _ in tf.range(1000):
            x = tf.concat([x, x[:1]], 0)
        return x

    with pytest.raises(ValueError, match=r"has shape \(1,\) before the loop"):
        too_many(tf.ones(1))


def test_variables_are_carried_by_their_values() -> None:
    v = tf.Variable(2.0)

    @tf.function
    def doubled(n):
        y, last = v, tf.constant(0.0)
        for _ in tf.range(n):
            y, last = y * 2.0, v
        return y, last

    assert list(map(float, doubled(tf.constant(3)))) == [16.0, 2.0]
    assert list(map(float, doubled(tf.constant(0)))) == [2.0, 0.0]
    assert float(v) == 2.0


def test_what_leaves_a_loop_by_another_way_is_an_error() -> None:
    @tf.function
    def run(n):
        found = tf.constant(0.0)

        def add(value):
            nonlocal found
            found += value

        for i in tf.range(n):
            add(tf.cast(i, tf.float32))
        return found

    with pytest.raises(TypeError, match=r"test_loops\.py:\d+ .*nonlocal"):
        run(tf.constant(3))


def test_arrays_that_grow_as_the_options_say() -> None:
    @tf.function
    def doubled(x, turns):
        for _ in tf.range(turns):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(x, tf.TensorShape([None]))]
            )
            x = tf.concat([x, x], 0)
        return x

    with pytest.warns(UserWarning, match=r"doubled runs as Python.*'x' changes its shape"):
        assert doubled(tf.constant([1, 2]), tf.constant(2)).tolist() == [1, 2] * 4
    assert doubled(tf.constant([1]), tf.constant(1)).tolist() == [1, 1]
