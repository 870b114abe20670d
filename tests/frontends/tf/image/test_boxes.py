"""Boxes to crop to."""

import numpy as np
import pytest

from frontends import tf

OBJECT = np.array([[[0.25, 0.25, 0.75, 0.75]]], np.float32)


def check(begin, size, box, height=40, width=60):
    top, left = np.asarray(begin)[:2]
    rows, columns = np.asarray(size)[:2]
    assert 0 <= top <= top + rows <= height
    assert 0 <= left <= left + columns <= width
    assert 0.05 * height * width - width <= rows * columns
    ratio = columns / rows
    assert 0.7 < ratio < 1.45 or (rows, columns) == (height, width)
    expected = [top / height, left / width, (top + rows) / height, (left + columns) / width]
    np.testing.assert_allclose(np.ravel(box), expected, rtol=1e-5)
    return rows * columns


def test_boxes_fit_and_vary():
    areas = set()
    for number in range(40):
        begin, size, box = tf.image.stateless_sample_distorted_bounding_box(
            [40, 60, 3], OBJECT, seed=[number, 1]
        )
        assert (int(begin[2]), int(size[2])) == (0, -1)
        areas.add(check(begin, size, box))
    assert len(areas) > 20


def test_boxes_cover_what_is_to_be_seen():
    for _ in range(20):
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.constant([40, 60, 3]), OBJECT, min_object_covered=1.0
        )
        assert begin[0] <= 10
        assert begin[0] + size[0] >= 30
        assert begin[1] <= 15
        assert begin[1] + size[1] >= 45


def test_boxes_in_a_map():
    def crop(x):
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.shape(x),
            tf.zeros([1, 0, 4]),
            area_range=(0.2, 0.9),
            use_image_if_no_bounding_boxes=True,
        )
        return tf.image.resize(tf.slice(x, begin, size), [8, 8])

    pixels = np.zeros((40, 60, 3), np.uint8)
    found = list(tf.data.Dataset.from_tensors(pixels).repeat(3).map(crop))
    assert [each.shape.as_list() for each in found] == [[8, 8, 3]] * 3


def test_boxes_in_a_program():
    found = tf.function(lambda: tf.image.sample_distorted_bounding_box([40, 60, 3], OBJECT))()
    check(*found)


def test_ranges_are_checked():
    with pytest.raises(ValueError, match="area_range must be positive"):
        tf.image.sample_distorted_bounding_box([4, 4, 3], OBJECT, area_range=[0.5, 2.0])
    with pytest.raises(ValueError, match="use_image_if_no_bounding_boxes=True"):
        tf.image.sample_distorted_bounding_box([4, 4, 3], np.zeros((1, 0, 4), np.float32))
