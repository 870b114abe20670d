"""`tf.py_function` and `tf.numpy_function`, eagerly, in programs and in replicas."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.ops.running import everywhere

X = [1.0, 2.0]
PROGRAM = pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "program"])


def test_a_function_gets_values():
    def function(x):
        y = tf.py_function(lambda x: x.numpy() * 2, [x], tf.float32)
        return tf.ensure_shape(y, x.shape) + 1

    assert everywhere(function, X) == [3, 5]


def test_gradient():
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda x, n: x**3 * 2 + float(n), [x, 5], tf.TensorSpec([2]))
        return y, tape.gradient(y, x)

    assert everywhere(gradient, X) == ([7, 21], [6, 24])


def test_numpy_function_has_several_results_and_no_gradient():
    def function(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            specs = [tf.TensorSpec([2], tf.float32), tf.TensorSpec([], tf.bool)]
            y, positive = tf.numpy_function(
                lambda x: (np.cumsum(x), np.all(x > 0)), [x], specs, stateful=False
            )
            z = tf.reduce_sum(x + y)
        return y, positive, tape.gradient(z, x)

    assert everywhere(function, X) == ([1, 3], True, [1, 1])


def test_a_shape_can_be_said_afterwards():
    @tf.function
    def function(x):
        y = tf.numpy_function(np.negative, [x], tf.float32)
        y.set_shape([2])
        assert (y.shape, y.dtype) == ((2,), tf.float32)
        return y[1] * 2

    assert function(tf.constant(X)) == -4


def test_a_function_runs_as_python_where_nobody_says_the_shape():
    calls = []

    def longer(x):
        calls.append(x.tolist())
        return np.concatenate([x, x[:1]])

    @tf.function
    def function(x):
        y = tf.numpy_function(longer, [x], tf.float32)
        if tf.reduce_sum(y) > 100.0:
            y = -y
        return y * 2

    with pytest.warns(
        UserWarning,
        match=r"function runs as Python.*the shape of what.*tf.ensure_shape\(y, \[2, 3\]\)",
    ):
        assert function(tf.constant([1.0, 2.0])).tolist() == [2, 4, 2]
    assert function(tf.constant([1.0, 100.0, 3.0])).tolist() == [-2, -200, -6, -2]
    assert calls == [[1, 2], [1, 100, 3]]


def test_gradients_where_nobody_says_the_shape():
    @tf.function
    def slope(x, partial):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda x: x * x, [x], tf.float32)
            if partial:
                y.set_shape([None])
        return y, tape.gradient(y, x)

    for partial in (True, False):
        if partial:
            with pytest.warns(UserWarning, match="runs as Python"):
                y, gradient = slope(tf.constant(X), partial)
        else:
            y, gradient = slope(tf.constant(X), partial)
        assert (y.tolist(), gradient.tolist()) == ([1, 4], [2, 4])


def test_a_replica_needs_the_shape():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])

    def replica():
        return tf.py_function(tf.abs, [tf.constant(X)], tf.float32) + 1

    for call in (strategy.run, tf.function(strategy.run)):
        with pytest.raises(ValueError, match=r"tf\.ensure_shape\(y, \[2, 3\]\)"):
            call(replica)


def test_a_said_shape_is_enough_for_a_gradient():
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda x: x * x, [x], tf.float32)
            y.set_shape(x.shape)
        return tape.gradient(y, x)

    assert slope(tf.constant(X)).tolist() == [2, 4]


@pytest.mark.parametrize("make", [tf.py_function, tf.numpy_function])
def test_a_decorator(make):
    @make(Tout=tf.TensorSpec([2]))
    def add(x, y):
        return x + y * 2

    assert add.__name__ == "add"
    assert everywhere(lambda x: add(x, x * 10.0) + 1, X) == [22, 43]


@PROGRAM
def test_called_each_time_even_if_nobody_uses_the_result(wrap):
    calls = []

    def function(x):
        tf.py_function(lambda x: calls.append(float(x)), [x], [])
        tf.numpy_function(lambda x: calls.append(-x) or x, [x], tf.TensorSpec([], tf.float32))
        return x

    run = wrap(function)
    run(tf.constant(1.0))
    run(tf.constant(2.0))
    assert sorted(calls) == [-2, -1, 1, 2]


@PROGRAM
def test_what_it_raises_reaches_the_caller(wrap):
    def function(x, declared):
        def fail(x):
            raise KeyError("oops")

        tf.py_function(fail, [x], declared)
        return x

    for declared in (None, tf.TensorSpec([], tf.float32)):
        with pytest.raises(KeyError, match="oops"):
            wrap(lambda x, declared=declared: function(x, declared))(tf.constant(1.0))


def test_a_replica_that_fails_lets_the_others_finish():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])

    def step():
        context = tf.distribute.get_replica_context()

        def fail(index):
            if index == 1:
                raise RuntimeError("replica 1")
            return index

        spec = tf.TensorSpec([], tf.int32)
        index = tf.numpy_function(fail, [context.replica_id_in_sync_group], spec)
        return context.all_reduce("SUM", index)

    with pytest.raises(RuntimeError, match="replica 1"):
        strategy.run(step)


def test_between_replicas_it_is_called_once():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    calls = []
    with strategy.scope():
        variable = tf.Variable(0.0)

    @tf.function
    def outer(x):
        specs = [tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.bool)]
        y, flag = tf.numpy_function(lambda x: (calls.append(x) or x + 1, True), [x], specs)
        tf.py_function(lambda x: calls.append(float(x)), [y], [])
        variable.assign(y)
        return strategy.run(lambda: (y, flag))

    y, flag = outer(tf.constant(1.0))
    assert ([float(v) for v in y.values], [bool(v) for v in flag.values]) == ([2, 2], [True, True])
    assert sorted(calls) == [1, 2]
    assert variable.numpy() == 2


def test_replicas_may_get_different_results():
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        variable = tf.Variable(0.0)
    spec = tf.TensorSpec([], tf.float32)

    def step(stateful):
        drawn = tf.numpy_function(lambda: np.float32(3), [], spec, stateful)
        variable.assign(drawn)
        return drawn

    with pytest.raises(RuntimeError, match="replicas"):
        strategy.run(step, (True,))
    strategy.run(lambda: step(False))
    assert variable.numpy() == 3


def test_wrong_results_and_arguments():
    for wrap in (lambda f: f, tf.function):
        with pytest.raises(ValueError, match=r"returned bool, but Tout says float32"):
            wrap(lambda x: tf.numpy_function(lambda x: x > 0, [x], tf.TensorSpec([])))(1.0)
        with pytest.raises(ValueError, match="returned 2 values, but Tout names 1"):
            wrap(lambda x: tf.numpy_function(lambda x: (x, x), [x], tf.TensorSpec([])))(1.0)
    with pytest.raises(ValueError, match=r"returned shape \(3,\), but \(2,\) was said"):
        tf.function(lambda x: tf.numpy_function(lambda x: np.ones(3), [x], tf.TensorSpec([2])))(1.0)
    with pytest.raises(TypeError, match="func must be callable"):
        tf.py_function(None, [], tf.float32)
    with pytest.raises(TypeError, match="func must be callable, got 3"):
        tf.py_function(3, Tout=tf.float32)


def test_texts_and_loops():
    def function(x):
        spec = tf.TensorSpec([], tf.float32)
        return tf.map_fn(
            lambda r: tf.py_function(lambda t, r: len(str(t)) * r, ["text", r], spec), x
        )

    assert everywhere(function, X) == [4, 8]


def test_in_a_map_of_a_dataset():
    dataset = tf.data.Dataset.range(3).map(
        lambda i: tf.py_function(lambda i: i.numpy() * 10, [i], tf.int64)
    )
    assert [int(element) for element in dataset] == [0, 10, 20]


@pytest.mark.parametrize(
    ("call", "function"),
    [
        (tf.py_function, lambda text, n: text.numpy().upper() * int(n)),
        (tf.numpy_function, lambda text, n: text.upper() * int(n)),
        (tf.numpy_function, lambda text, n: np.array(text.upper() * n, object)),
    ],
)
def test_texts_come_out_of_a_map(call, function):
    texts = tf.data.Dataset.from_tensor_slices((["a", "b\u00fc"], [2, 1]))
    shouted = texts.map(lambda text, n: call(function, [text, n], tf.string))
    assert list(shouted.as_numpy_iterator()) == [b"AA", "B\u00fc".encode()]
    (both,) = shouted.batch(2).as_numpy_iterator()
    assert both.tolist() == [b"AA", "B\u00fc".encode()]


def test_results_have_the_dtypes_of_arrays():
    texts = tf.data.Dataset.from_tensor_slices((["a", "b"], [2.0, 1.0]))

    def swap(text, n):
        return tf.py_function(lambda text, n: (text, n * 2), [text, n], (text.dtype, n.dtype))

    assert list(texts.map(swap).as_numpy_iterator()) == [(b"a", 4.0), (b"b", 2.0)]
    doubled = tf.py_function(lambda x: x * 2, [tf.constant(X)], np.dtype(np.float32))
    assert doubled.tolist() == [2, 4]
