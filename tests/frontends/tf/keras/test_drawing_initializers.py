"""Initializers of `tf` that draw."""

import numpy as np
import pytest

from frontends import tf

MAKERS = {
    "RandomNormal": tf.random_normal_initializer,
    "RandomUniform": tf.random_uniform_initializer,
}
by_name = pytest.mark.parametrize("name", MAKERS)


@by_name
def test_each_call_draws_other_numbers_unless_there_is_a_seed(name) -> None:
    """Recorded from TensorFlow 2.21 by hand: Keras's own draw the same ones."""
    drawn, again = MAKERS[name](), MAKERS[name](seed=3)
    assert not np.array_equal(drawn([3]), drawn([3]))
    np.testing.assert_array_equal(again([3]), again([3]))


@by_name
def test_the_global_seed_decides_what_is_drawn(name) -> None:
    drawn = []
    for _ in range(2):
        tf.random.set_seed(7)
        drawn.append(np.asarray(MAKERS[name]()([3])))
    np.testing.assert_array_equal(*drawn)


@by_name
def test_files_say_the_class_of_keras(name) -> None:
    keras = tf.keras
    initializer = MAKERS[name](0.1, 0.2)
    assert isinstance(initializer, keras.initializers.Initializer)
    cls = getattr(keras.initializers, name)
    first, second = (keras.layers.Dense(3, kernel_initializer=initializer) for _ in range(2))
    first.build((None, 2))
    second.build((None, 2))
    assert not np.array_equal(first.kernel, second.kernel)
    config = keras.layers.Dense(3, kernel_initializer=cls(0.1, 0.2)).get_config()
    assert {**first.get_config(), "name": ""} == {**config, "name": ""}
    config = keras.saving.serialize_keras_object(initializer)
    assert config == keras.saving.serialize_keras_object(cls(0.1, 0.2))


def test_numbers_are_of_the_distribution() -> None:
    normal = tf.random_normal_initializer(1.0, 0.5)((4000,))
    np.testing.assert_allclose([np.mean(normal), np.std(normal)], [1.0, 0.5], atol=0.05)
    uniform = tf.random_uniform_initializer(0.1, 0.3)((4000,), tf.float32)
    np.testing.assert_allclose([np.min(uniform), np.max(uniform)], [0.1, 0.3], atol=0.01)
