"""Who computes functions of images, and what scripts get."""

import jax
import numpy as np
import pytest

from frontends import tf
from frontends.tf.data.host_tensors import HostTensor
from frontends.tf.image import _library

IMAGE = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)


def test_numpy_computes_what_is_numpys():
    assert _library.library_of(IMAGE)[0] is np
    assert _library.library_of(tf.constant(IMAGE))[0] is jax.numpy
    assert isinstance(tf.image.flip_left_right(IMAGE), jax.Array)


def test_a_program_computes_with_what_it_computed():
    @tf.function
    def brighter(delta):
        return tf.image.adjust_brightness(IMAGE, delta)

    np.testing.assert_array_equal(brighter(tf.constant(0.0)), IMAGE)


def test_numbers_have_32_bits():
    assert tf.image.flip_left_right(IMAGE.astype(np.float64)).dtype == tf.float32
    assert _library.on_host(IMAGE.astype(np.int64)).dtype == np.int32


def test_map_functions_on_elements_get_arrays_of_numpy_with_a_tensors_methods():
    seen = []

    def augment(x):
        np.asarray(x)  # what JAX traces has no values
        flipped = tf.image.random_flip_left_right(x)
        seen.append(tf.image.resize(tf.constant(flipped), [3, 3]))
        return seen[-1]

    list(tf.data.Dataset.from_tensors(IMAGE).map(augment))
    assert type(seen[0]) is HostTensor
    assert seen[0].get_shape().as_list() == [3, 3, 3]


def test_symbolic_tensors_become_operations_of_a_model():
    keras = tf.keras
    given = keras.Input((4, 4, 3))
    model = keras.Model(given, tf.image.flip_left_right(tf.image.resize(given, [2, 2])))
    images = np.random.RandomState(0).rand(2, 4, 4, 3).astype(np.float32)
    expected = tf.image.flip_left_right(tf.image.resize(images, [2, 2]))
    np.testing.assert_allclose(model.predict(images, verbose=0), expected, rtol=1e-5)


def test_text_is_no_image():
    with pytest.raises((TypeError, ValueError)):
        tf.image.flip_left_right("picture")
