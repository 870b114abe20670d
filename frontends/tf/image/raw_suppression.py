"""Non-maximum suppression by the names and arguments of TensorFlow's operations, for `tf.raw_ops`."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from frontends.tf.image.suppression import (
    non_max_suppression,
    non_max_suppression_padded,
    non_max_suppression_with_scores,
)
from frontends.tf.ops.convert import convert_to_tensor, static_int


class _V4(NamedTuple):
    selected_indices: Any
    valid_outputs: Any


class _V5(NamedTuple):
    selected_indices: Any
    selected_scores: Any
    valid_outputs: Any


def NonMaxSuppressionV3(
    *,
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    name: str | None = None,
) -> jax.Array:
    """Chooses boxes; as `tf.image.non_max_suppression`.

    Source: `tf.raw_ops.NonMaxSuppressionV3`.
    """
    size = static_int(max_output_size)
    return non_max_suppression(boxes, scores, size, iou_threshold, score_threshold)


def NonMaxSuppressionV4(
    *,
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> _V4:
    """Chooses boxes, and counts them; as `tf.image.non_max_suppression_padded`.

    Source: `tf.raw_ops.NonMaxSuppressionV4`.
    """
    size = static_int(max_output_size)
    return _V4(
        *non_max_suppression_padded(
            *(boxes, scores, size, iou_threshold, score_threshold, pad_to_max_output_size)
        )
    )


def NonMaxSuppressionV5(
    *,
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    soft_nms_sigma: TensorLike,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> _V5:
    """Chooses boxes, with scores that may be lowered instead; as `tf.image.non_max_suppression_with_scores`.

    Source: `tf.raw_ops.NonMaxSuppressionV5`.
    """
    size, sigma = static_int(max_output_size), float(convert_to_tensor(soft_nms_sigma))
    places, values = non_max_suppression_with_scores(
        boxes, scores, size, iou_threshold, score_threshold, sigma
    )
    count = jnp.asarray(len(places), jnp.int32)
    if pad_to_max_output_size:
        places, values = (jnp.pad(one, (0, size - len(one))) for one in (places, values))
    return _V5(places, values, count)
