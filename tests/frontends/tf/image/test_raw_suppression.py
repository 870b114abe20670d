"""Suppression by names of operations; recorded cases hold the numbers to TensorFlow's."""

import numpy as np

from frontends import tf


def test_missing_boxes_are_filled_up():
    found = tf.raw_ops.NonMaxSuppressionV5(
        boxes=np.array([[0, 0, 1, 1]], np.float32),
        scores=[0.5],
        max_output_size=2,
        iou_threshold=0.5,
        score_threshold=0.0,
        soft_nms_sigma=0.0,
        pad_to_max_output_size=True,
    )
    assert found.selected_scores.tolist() == [0.5, 0]
    assert found.valid_outputs == 1
