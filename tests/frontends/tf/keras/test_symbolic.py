"""Functions and operators of `tf` on Keras's symbolic tensors; what TensorFlow gives, with Keras 2."""

import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.keras.strategies import mirrored

keras = tf.keras
X = np.arange(-4, 4, dtype=np.float32).reshape(2, 4)


def run(make, values=X):
    """Makes a model of a function, and calls it."""
    x = keras.Input(values.shape[1:])
    return keras.Model(x, make(x))(values)


@pytest.mark.parametrize(
    "make",
    [
        tf.nn.relu,
        lambda x: tf.concat([tf.square(x), x * 2], -1),
        lambda x: tf.concat(values=[x, x], axis=1),
        lambda x: tf.reduce_mean(x, axis=-1, keepdims=True),
        lambda x: tf.expand_dims(x, 1),
        lambda x: tf.cast(x > 0, tf.float32),
        lambda x: tf.where(x > 0, x, 0.0),
        lambda x: 1.0 - tf.math.exp(-tf.abs(x)),
        lambda x: tf.matmul(x, tf.transpose(x)),
        lambda x: tf.einsum("bi,bj->bij", x, x),
        lambda x: tf.add_n(tf.split(x, 2, axis=-1)),
        lambda x: tf.nn.moments(x, [1])[1],
        lambda x: tf.math.top_k(x, 2)[0],
        lambda x: x + np.ones(4, np.float32),
        lambda x: tf.one_hot(tf.argmax(x, -1), 4),
        lambda x: tf.clip_by_value(x, -1.0, 1.0),
        lambda x: tf.stack([x, x], axis=1)[:, 0, tf.newaxis, ..., ::2],
        lambda x: x[:, np.int64(1)],
        lambda x: tf.range(4.0) * x + (tf.Variable(np.ones(4, np.float32)) - x),
        lambda x: tf.cast(tf.zeros([4]) > x, tf.float32),
    ],
)
def test_a_model_computes_what_the_functions_compute(make):
    np.testing.assert_allclose(run(make), make(tf.constant(X)), rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda x: tf.reshape(x, [tf.shape(x)[0], 2, 2]), (None, 2, 2)),
        (lambda x: tf.reshape(x, [tf.shape(x)[0] * 2, -1]), (None, 2)),
        (lambda x: tf.reshape(x, tf.concat([tf.shape(x)[:1], [2, 2]], 0)), (None, 2, 2)),
        (lambda x: tf.reshape(x, tf.stack([4, -1])), (4, None)),
        (lambda x: tf.tile(tf.ones([1, 3]), [tf.shape(x)[0], 1]), (None, 3)),
        (lambda x: x[:, : tf.shape(x)[1] - 1], (None, 3)),
        (lambda x: x / tf.cast(tf.shape(x)[0], x.dtype), (None, 4)),
        (lambda x: tf.zeros([tf.shape(x)[0], 5]), (None, 5)),
        (lambda x: tf.broadcast_to(tf.range(4.0), tf.shape(x)), (None, 4)),
    ],
)
def test_sizes_that_are_not_known_are_computed_with(make, shape):
    x = keras.Input((4,))
    y = make(x)
    assert tuple(y.shape) == shape
    np.testing.assert_array_equal(keras.Model(x, y)(X), make(tf.constant(X)))


def test_shapes_have_what_tensorflows_have():
    x = keras.Input((None, 3))
    assert x.shape.as_list() == x.get_shape().as_list() == [None, None, 3]
    x.set_shape([None, 5, None])
    assert tuple(x.shape) == (None, 5, 3)
    with pytest.raises(ValueError, match="not compatible"):
        x.set_shape([None, 5, 4])
    assert tuple(keras.layers.Dense(2)(x).shape) == (None, 5, 2)


def test_a_model_is_saved_by_the_names_of_functions(tmp_path):
    x = keras.Input((4,))
    y = tf.nn.leaky_relu(x, alpha=0.5)
    y = tf.concat([y, tf.cast(x > 0, "float32")], axis=-1)
    y = tf.reshape(y, [tf.shape(x)[0], 2, 4])[:, : tf.shape(x)[1] - 3]
    y = keras.layers.Dense(3)(tf.cast(y, tf.float32) + tf.constant([1.0, 2.0, 3.0, 4.0]))
    model = keras.Model(x, tf.split(y, [1, 2], axis=-1))
    names = [operation.name for operation in model.operations]
    assert [name for name in names if name.startswith("tf.nn.leaky_relu")]
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    for one, other in zip(model(X), loaded(X), strict=True):
        np.testing.assert_array_equal(one, other)
    copy = keras.models.clone_model(model)
    assert [tuple(out.shape) for out in copy.outputs] == [(None, 1, 1), (None, 1, 2)]


def test_a_saved_name_that_does_not_exist_is_an_error():
    from frontends.tf.keras._symbolic import TensorFlowOperation

    with pytest.raises(ValueError, match=r"calls tf.nn.no_such_function"):
        TensorFlowOperation("tf.nn.no_such_function")


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_model_of_functions_trains_as_one_of_layers(replicas):
    def train(functions):
        keras.utils.set_random_seed(0)
        with mirrored(replicas).scope():
            x = keras.Input((4,))
            y = keras.layers.Dense(3)(x)
            y = tf.nn.relu(y) if functions else keras.layers.ReLU()(y)
            y = tf.concat([y, y * 2], -1) if functions else keras.layers.Concatenate()([y, 2 * y])
            model = keras.Model(x, keras.layers.Dense(1)(y))
            model.compile("sgd", "mse")
        model.fit(np.tile(X, (4, 1)), np.ones((8, 1)), batch_size=4, epochs=2, verbose=0)
        return model.get_weights()

    for one, other in zip(train(True), train(False), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_gradients_flow_through_recorded_functions():
    x = keras.Input((4,))
    model = keras.Model(x, tf.reduce_sum(tf.square(x), axis=-1))
    inputs = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        loss = tf.reduce_sum(model(inputs))
    np.testing.assert_allclose(tape.gradient(loss, inputs), 2 * X)


class Sampling(keras.layers.Layer):
    """As in TensorFlow's guide to layers."""

    def call(self, inputs):
        mean, log_var = inputs
        batch, dim = tf.shape(mean)[0], tf.shape(mean)[1]
        epsilon = tf.random.normal(shape=(batch, dim))
        return mean + tf.exp(0.5 * log_var) * epsilon


class Compares(keras.layers.Layer):
    def call(self, inputs):
        batch = tf.shape(inputs)[0]
        if batch == 1:
            inputs = inputs + 1
        return tf.reshape(inputs, [batch * 2, -1])


def test_a_layer_computes_with_sizes_and_draws_numbers():
    tf.random.set_seed(3)
    first = tf.random.normal([2])
    tf.random.set_seed(3)
    x = keras.Input((4,))
    y = Sampling()([x, x])
    assert tuple(y.shape) == (None, 4)
    np.testing.assert_array_equal(tf.random.normal([2]), first)
    model = keras.Model(x, y)
    assert model.predict(X, verbose=0).shape == (2, 4)
    assert not np.array_equal(model(X), model(X))


def test_a_layer_may_compare_sizes():
    x = keras.Input((4,))
    y = Compares()(x)
    assert tuple(y.shape) == (None, 2)
    np.testing.assert_array_equal(keras.Model(x, y)(X), X.reshape(4, 2))


def test_a_function_that_needs_a_value_says_so():
    with pytest.raises(ValueError, match=r"tf.reshape asks for the value of a tensor"):
        tf.reshape(tf.zeros(9), [tf.cast(tf.reduce_sum(keras.Input((4,))), tf.int32), -1])


def test_an_error_of_a_layer_is_its_own():
    class Wrong(keras.layers.Layer):
        def call(self, inputs):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Wrong()(keras.Input((4,)))


def test_a_model_with_sizes_is_exported(tmp_path):
    x = keras.Input((4,))
    model = keras.Model(x, tf.reshape(x, [tf.shape(x)[0] * 2, 2]))
    tf.saved_model.save(model, tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    for rows in (2, 3):
        assert loaded(tf.ones([rows, 4])).shape == (rows * 2, 2)


def test_a_product_with_a_number_is_dense():
    x = keras.Input((3,))
    for product in (x * 2.0, 2.0 * x, 2.0 / x, x * tf.math.sqrt(4.0)):
        assert not product.sparse
    assert (keras.Input((3,), sparse=True) * 2.0).sparse


def test_a_layer_may_slice_a_table_of_few_rows():
    class Positions(keras.layers.Layer):
        table = tf.range(32.0)[tf.newaxis, :, tf.newaxis]

        def call(self, inputs):
            return inputs + self.table[:, : tf.shape(inputs)[1]]

    x = keras.Input((None, 4))
    model = keras.Model(x, Positions()(x * tf.math.sqrt(4.0)))
    assert model.output_shape == (None, None, 4)
    values = np.ones((2, 5, 4), np.float32)
    np.testing.assert_array_equal(model(values), 2.0 + np.arange(5.0)[:, None] + 0 * values)
