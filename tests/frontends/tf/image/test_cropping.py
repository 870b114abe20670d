"""Crops at places that a program computes; the recorded results have the others."""

import numpy as np
import pytest

from frontends import tf

IMAGE = np.random.RandomState(0).rand(5, 6, 3).astype(np.float32)


def test_crops_and_pads_at_a_place_that_a_program_computes():
    @tf.function
    def moved(top, left):
        cropped = tf.image.crop_to_bounding_box(IMAGE, top, left, 2, 3)
        return cropped, tf.image.pad_to_bounding_box(cropped, top, left, 5, 6)

    cropped, padded = moved(tf.constant(1), tf.constant(2))
    np.testing.assert_array_equal(cropped, IMAGE[1:3, 2:5])
    expected = np.zeros_like(IMAGE)
    expected[1:3, 2:5] = IMAGE[1:3, 2:5]
    np.testing.assert_array_equal(padded, expected)


def test_a_box_outside_is_an_error():
    with pytest.raises(ValueError, match="got height 3 from 4 on of 5"):
        tf.image.crop_to_bounding_box(IMAGE, 4, 0, 3, 3)
    with pytest.raises(ValueError, match="central_fraction"):
        tf.image.central_crop(IMAGE, 0)


def test_crop_or_pad_in_a_map_keeps_the_dtype():
    dataset = tf.data.Dataset.from_tensors(IMAGE.astype(np.uint8)).map(
        lambda x: tf.image.resize_with_crop_or_pad(x, 4, 8)
    )
    (found,) = dataset
    assert found.shape.as_list() == [4, 8, 3]
    assert found.dtype == tf.uint8
