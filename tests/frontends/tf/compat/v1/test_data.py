"""What a dataset's elements are, as TensorFlow 1 asks."""

import jax
import numpy as np

from frontends import tf

ask = tf.compat.v1.data


def test_types_shapes_and_classes_have_the_structure_of_elements():
    dataset = tf.data.Dataset.from_tensor_slices({"a": np.zeros((4, 3), np.float32)}).batch(2)
    assert ask.get_output_types(dataset) == {"a": tf.float32}
    assert ask.get_output_shapes(iter(dataset))["a"].as_list() == [None, 3]
    assert ask.get_output_classes(dataset) == {"a": jax.Array}
    windows = tf.data.Dataset.range(4).window(2)
    assert ask.get_output_classes(windows) is tf.data.Dataset
