"""User-defined layers get the shapes that Keras 2 gives."""

import functools

import numpy as np

from frontends import tf


@tf.keras.utils.register_keras_serializable("tests.build_shapes")
class Scale(tf.keras.layers.Layer):
    """Multiplies each feature."""

    def build(self, input_shape):
        self.seen = input_shape.as_list()
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="ones")

    def call(self, inputs):
        return inputs * self.scale


class Sum(tf.keras.layers.Layer):
    """Adds two tensors."""

    def build(self, input_shape):
        self.seen = [shape.as_list() for shape in input_shape]

    def call(self, inputs):
        return inputs[0] + inputs[1]


def test_one_input():
    symbolic, eager = Scale(), Scale()
    symbolic(tf.keras.Input((3,)))
    eager(tf.ones([2, 3]))
    assert (symbolic.seen, eager.seen) == ([None, 3], [2, 3])


def test_several_inputs():
    layer = Sum()
    layer([tf.ones([2, 3]), tf.ones([2, 3])])
    assert layer.seen == [[2, 3], [2, 3]]


def test_a_layer_that_is_loaded(tmp_path):
    model = tf.keras.Sequential([tf.keras.Input((3,)), Scale(), tf.keras.layers.Dense(1)])
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    assert loaded.layers[0].seen == [None, 3]
    np.testing.assert_allclose(loaded.predict(np.ones((2, 3)), verbose=0), model(np.ones((2, 3))))


def test_a_layer_without_build():
    class Double(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(2)

        def call(self, inputs):
            return self.dense(inputs)

    assert Double()(tf.ones([2, 3])).shape == (2, 2)


def test_a_build_that_is_no_plain_function():
    class Partial(tf.keras.layers.Layer):
        build = functools.partialmethod(lambda self, extra, input_shape: None, 1)

        def call(self, inputs):
            return inputs

    assert Partial()(tf.ones([2, 3])).shape == (2, 3)
