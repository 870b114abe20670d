"""TensorFlow 1's parameters; the recorded results have the numbers."""

import numpy as np

from frontends import tf

IMAGES = np.random.RandomState(0).rand(1, 4, 4, 3).astype(np.float32)


def test_methods_are_numbers():
    v1 = tf.compat.v1.image
    method = v1.ResizeMethod.NEAREST_NEIGHBOR
    assert method == 1
    np.testing.assert_array_equal(v1.resize(IMAGES, [2, 2], method), IMAGES[:, ::2, ::2])
    np.testing.assert_array_equal(
        tf.image.resize_images(IMAGES, [2, 2], method="nearest"), IMAGES[:, ::2, ::2]
    )


def test_parameters_in_the_former_order():
    v1 = tf.compat.v1.image
    found = v1.crop_and_resize(IMAGES, [[0.0, 0.0, 1.0, 1.0]], box_ind=[0], crop_size=[4, 4])
    np.testing.assert_allclose(found, IMAGES, rtol=1e-6)
    boxes = np.array([[[0, 0, 1, 1]]], np.float32)
    drawn = v1.draw_bounding_boxes(IMAGES, boxes, colors=np.zeros((1, 3), np.float32))
    assert not np.asarray(drawn)[0, 0].any()
    begin, size, _ = v1.sample_distorted_bounding_box([4, 4, 3], boxes, seed=2)
    assert begin.shape == size.shape == (3,)


def test_other_names_are_those_of_tf_image():
    assert tf.compat.v1.image.decode_jpeg is tf.image.decode_jpeg
