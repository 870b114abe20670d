"""Masks in steps, in layers and in map functions."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf.selected.selection import SelectionError

_X = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_a_layer():
    class Masking(tf.keras.layers.Layer):
        def call(self, x):
            taken = tf.boolean_mask(x, x[:, 0] > 1.0)
            return x * tf.reduce_mean(taken) + tf.cast(tf.shape(taken)[0], tf.float32)

    model = tf.keras.Sequential([tf.keras.Input([2]), Masking()])
    expected = _X * 3.5 + 2
    assert model(_X).tolist() == model.predict(_X, verbose=0).tolist() == expected.tolist()


def test_a_functional_model_names_a_layer():
    x = tf.keras.Input([2])
    with pytest.raises(ValueError, match=r"as many entries as a mask takes(.|\n)*class MyLayer"):
        tf.boolean_mask(x, x > 0)


def test_map_functions_run_on_elements():
    rows = tf.data.Dataset.from_tensor_slices(_X)
    taken = rows.map(lambda row: tf.boolean_mask(row, row > 1.0))
    assert [one.tolist() for one in taken.as_numpy_iterator()] == [[], [2, 3], [4, 5]]


def test_a_function_outside_of_replicas_runs_as_python():
    with pytest.warns(UserWarning, match="runs as Python"):
        taken = tf.function(lambda x: tf.boolean_mask(x, x > 1.0))(tf.constant(_X))
    assert taken.tolist() == [2, 3, 4, 5]


def test_the_gradient_is_finite_where_the_mask_keeps_infinity_out():
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])

    @tf.function
    def slope(x):
        def of_replica(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.math.log(tf.boolean_mask(x, x > 1.0)))
            return tape.gradient(y, x)

        return strategy.experimental_local_results(strategy.run(of_replica, (x,)))[0]

    assert slope(tf.constant([0.0, 2.0, 4.0])).tolist() == [0, 0.5, 0.25]
    assert slope(tf.constant([0.0, 0.5, 1.0])).tolist() == [0, 0, 0]


def test_a_mask_of_another_shape():
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    with pytest.raises(ValueError, match=r"mask has the shape \(3,\).*\(2, 3\)"):
        strategy.run(lambda x: tf.boolean_mask(x, x[0] > 1.0), (tf.ones([2, 3]),))


def in_replica(function, x):
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    step = tf.function(lambda x: strategy.run(function, (x,)))
    return strategy.experimental_local_results(step(tf.constant(x)))[0]


def test_a_target_is_summed():
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x[x > 1.5] ** 2
        return tape.gradient([y, x], x)

    assert in_replica(slope, [1.0, 2.0, 3.0]).tolist() == [1, 5, 7]


def test_weights_of_a_target():
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x[x > 1.5]
        return tape.gradient(y, x, output_gradients=tf.ones(3))

    with pytest.raises(SelectionError, match="output_gradients does not work"):
        in_replica(slope, [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.print("taken:", x[x > 1]),
        lambda x: tf.debugging.assert_near(x[x > 1], x[x > 1]),
        lambda x: tf.nn.moments(x[x > 1], 0),
        lambda x: tf.map_fn(tf.abs, x[x > 1]),
        lambda x: tf.nn.compute_average_loss(x[x > 1]),
    ],
)
def test_what_needs_arrays(function):
    with pytest.raises(SelectionError):
        in_replica(function, [1.0, 2.0, 3.0])
