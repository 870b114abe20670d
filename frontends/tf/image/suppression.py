"""Non-maximum suppression: of boxes that overlap, the one with the highest score is kept.

All functions choose one box after the other, and lower the scores of those that overlap it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._typing import TensorLike
from frontends.tf.data.tracing import run_as_python
from frontends.tf.image._library import given
from frontends.tf.ops.convert import convert_to_tensor, static_int
from frontends.tf.ops.operand_errors import OperandError

_LOWEST = float("-inf")


class CombinedSuppression(NamedTuple):
    """Boxes that are kept, of all classes.

    Attributes:
        nmsed_boxes: of shape `[images, boxes, 4]`.
        nmsed_scores: of shape `[images, boxes]`.
        nmsed_classes: of the same shape.
        valid_detections: for each image, how many boxes there are; the others are zeros.
    """

    nmsed_boxes: jax.Array
    nmsed_scores: jax.Array
    nmsed_classes: jax.Array
    valid_detections: jax.Array


def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: int,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    name: str | None = None,
) -> jax.Array:
    """Chooses boxes by their scores, without those that overlap a better one too much.

    How many there are is known only when a program runs: in a step, use `non_max_suppression_padded`.

    Args:
        boxes: of shape `[boxes, 4]`, two opposite corners each.
        scores: of shape `[boxes]`.
        max_output_size: how many to choose at most.
        iou_threshold: the largest overlap, in parts of the union.
        score_threshold: a score must be larger.

    Returns:
        Indices of boxes, int32, best first.

    Raises:
        ValueError: shapes do not fit.

    Source: `tf.image.non_max_suppression`.
    """
    function = "tf.image.non_max_suppression"
    corners, values = _checked(function, boxes, scores)
    indices, _, count = _chosen(
        _overlaps(corners), values, max_output_size, iou_threshold, score_threshold
    )
    return _first(function, count, indices)[0]


def non_max_suppression_with_scores(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: int,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    soft_nms_sigma: float = 0.0,
    name: str | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Chooses boxes by their scores, and returns the scores, which may be lowered instead of dropped.

    Args:
        boxes: of shape `[boxes, 4]`, two opposite corners each.
        scores: of shape `[boxes]`.
        max_output_size: how many to choose at most.
        iou_threshold: the largest overlap, in parts of the union.
        score_threshold: a score must be larger.
        soft_nms_sigma: if positive, overlap lowers scores by a Gaussian of this variance.

    Returns:
        Indices of boxes, int32, best first; and their scores.

    Raises:
        ValueError: shapes do not fit.

    Source: `tf.image.non_max_suppression_with_scores`.
    """
    function = "tf.image.non_max_suppression_with_scores"
    corners, values = _checked(function, boxes, scores)
    indices, found, count = _chosen(
        *(_overlaps(corners), values, max_output_size, iou_threshold, score_threshold),
        sigma=float(soft_nms_sigma),
    )
    chosen, best = _first(function, count, indices, found)
    return chosen, best


def non_max_suppression_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: int,
    overlap_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    name: str | None = None,
) -> jax.Array:
    """Chooses boxes by their scores, with overlaps of one's own.

    Args:
        overlaps: of shape `[boxes, boxes]`.
        scores: of shape `[boxes]`.
        max_output_size: how many to choose at most.
        overlap_threshold: the largest overlap.
        score_threshold: a score must be larger.

    Returns:
        Indices of boxes, int32, best first.

    Raises:
        ValueError: shapes do not fit.

    Source: `tf.image.non_max_suppression_overlaps`.
    """
    function = "tf.image.non_max_suppression_overlaps"
    matrix, values = convert_to_tensor(overlaps), convert_to_tensor(scores)
    if matrix.ndim != 2 or values.shape != matrix.shape[:1] or matrix.shape[1] != len(values):
        raise ValueError(
            f"{function}: expected overlaps of shape [boxes, boxes] and scores of shape [boxes], got "
            f"{tuple(matrix.shape)} and {tuple(values.shape)}."
        )
    indices, _, count = _chosen(
        lambda number: matrix[number], values, max_output_size, overlap_threshold, score_threshold
    )
    return _first(function, count, indices)[0]


def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: int,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[jax.Array, jax.Array]:
    """Chooses boxes by their scores, and fills up with zeros, so that programs can run it.

    Args:
        boxes: of shape `[..., boxes, 4]`: top, left, bottom and right, not all negative.
        scores: of shape `[..., boxes]`.
        max_output_size: how many to choose at most.
        iou_threshold: an overlap of so much is too large.
        score_threshold: a score must be larger.
        pad_to_max_output_size: whether to fill up; must be True for more than one image.
        sorted_input: Ignored: scores are compared in any order.
        canonicalized_coordinates: Ignored: corners are put in order.
        tile_size: Ignored: there are no tiles.

    Returns:
        Indices of boxes, int32, of shape `[..., max_output_size]`, best first; and how many there are.

    Raises:
        ValueError: shapes do not fit.

    Source: `tf.image.non_max_suppression_padded`.
    """
    function = "tf.image.non_max_suppression_padded"
    corners, values = _checked(function, boxes, scores, rank=None)
    if corners.ndim > 2 and not pad_to_max_output_size:
        raise ValueError(
            f"{function}: pad_to_max_output_size must be True for more than one image."
        )
    size = static_int(max_output_size)

    def of_image(corners: Any, values: Any) -> Any:
        seen = jnp.where((corners > 0).any(-1), values, -jnp.inf)
        settings = seen, size, iou_threshold, score_threshold
        indices, _, count = _chosen(_overlaps(corners), *settings, strict=True)
        return indices, count

    batch = corners.shape[:-2]
    found = jax.vmap(of_image)(
        corners.reshape(-1, *corners.shape[-2:]), values.reshape(-1, values.shape[-1])
    )
    indices, counts = found[0].reshape(*batch, size), found[1].reshape(batch)
    if pad_to_max_output_size:
        return given(indices), given(counts)
    return _first(function, counts, indices)[0], given(counts)


def combined_non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: int,
    max_total_size: int,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = _LOWEST,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> CombinedSuppression:
    """Chooses boxes of each class of each image, and of those the best of each image.

    Args:
        boxes: of shape `[images, boxes, classes, 4]`, or with 1 for all classes.
        scores: of shape `[images, boxes, classes]`.
        max_output_size_per_class: how many to choose of a class at most.
        max_total_size: how many of an image.
        iou_threshold: the largest overlap, in parts of the union.
        score_threshold: a score must be larger.
        pad_per_class: whether the result is no larger than all classes together can fill.
        clip_boxes: whether to cut boxes off at 0 and 1.

    Raises:
        ValueError: shapes do not fit.

    Source: `tf.image.combined_non_max_suppression`.
    """
    corners, values = convert_to_tensor(boxes), convert_to_tensor(scores)
    if (
        corners.ndim != 4
        or values.ndim != 3
        or corners.shape[:2] != values.shape[:2]
        or corners.shape[2] not in (1, values.shape[2])
        or corners.shape[3] != 4
    ):
        raise ValueError(
            "tf.image.combined_non_max_suppression: expected boxes of shape [images, boxes, classes or 1, 4] and scores "
            f"of shape [images, boxes, classes], got {tuple(corners.shape)} and {tuple(values.shape)}."
        )
    classes, each = values.shape[2], static_int(max_output_size_per_class)
    total = static_int(max_total_size)
    total = min(total, each * classes) if pad_per_class else total
    per_class = jnp.broadcast_to(corners, (*values.shape, 4))

    def of_class(corners: Any, values: Any) -> Any:
        settings = values, each, iou_threshold, score_threshold
        indices, found, _ = _chosen(_overlaps(corners), *settings)
        return corners[indices], found

    def of_image(corners: Any, values: Any) -> Any:
        kept, found = jax.vmap(of_class, (1, 1))(corners, values)
        kept, found = kept.reshape(-1, 4), found.reshape(-1)
        missing = max(total - len(found), 0)
        found = jnp.pad(found, (0, missing), constant_values=-jnp.inf)
        order = jnp.argsort(-found, stable=True)[:total]
        best = found[order]
        valid = best > -jnp.inf
        chosen = jnp.pad(kept, ((0, missing), (0, 0)))[order]
        chosen = jnp.clip(chosen, 0, 1) if clip_boxes else chosen
        return (
            jnp.where(valid[:, None], chosen, 0),
            jnp.where(valid, best, 0),
            jnp.where(valid, order // each, 0).astype(jnp.float32),
            valid.sum(dtype=jnp.int32),
        )

    return CombinedSuppression(*map(given, jax.vmap(of_image)(per_class, values)))


def _checked(
    function: str, boxes: TensorLike, scores: TensorLike, rank: int | None = 2
) -> tuple[Any, Any]:
    corners, values = convert_to_tensor(boxes), convert_to_tensor(scores)
    fits = corners.ndim >= 2 and corners.shape[-1] == 4 and corners.shape[:-1] == values.shape
    if not fits or rank not in (None, corners.ndim):
        raise ValueError(
            f"{function}: expected boxes of shape [boxes, 4] and scores of shape [boxes], got {tuple(corners.shape)} and "
            f"{tuple(values.shape)}."
        )
    return corners, values


def _overlaps(corners: Any) -> Callable[[Any], Any]:
    """Makes the function that computes how much one box overlaps each, in parts of the union."""
    low = jnp.minimum(corners[:, :2], corners[:, 2:])
    high = jnp.maximum(corners[:, :2], corners[:, 2:])
    areas = (high - low).prod(1)

    def of_box(number: Any) -> Any:
        sides = jnp.minimum(high[number], high) - jnp.maximum(low[number], low)
        common = jnp.maximum(sides, 0).prod(1)
        union = areas[number] + areas - common
        # A box without area overlaps nothing.
        empty = (areas <= 0) | (areas[number] <= 0) | (union <= 0)
        return jnp.where(empty, 0, common / jnp.where(union > 0, union, 1))

    return of_box


def _chosen(
    overlaps: Callable[[Any], Any],
    scores: Any,
    max_output_size: TensorLike,
    overlap_threshold: TensorLike,
    score_threshold: TensorLike,
    *,
    sigma: float = 0.0,
    strict: bool = False,
) -> tuple[Any, Any, Any]:
    """Chooses boxes, one after the other.

    Args:
        overlaps: computes how much one box overlaps each.
        scores: of the boxes.
        max_output_size: how many to choose at most.
        overlap_threshold: the largest overlap.
        score_threshold: a score must be larger.
        sigma: if positive, overlap lowers scores instead.
        strict: whether an overlap of the threshold itself is too large.

    Returns:
        Indices, with zeros at the end; scores, with negative infinities at the end; and how many there are.
    """
    size = static_int(max_output_size)
    values = jnp.asarray(scores, jnp.float32)
    if not len(values):
        return jnp.zeros(size, jnp.int32), jnp.full(size, -jnp.inf), jnp.int32(0)

    def choose(turn: Any, state: Any) -> Any:
        left, indices, found = state
        best = jnp.argmax(left)
        score = left[best]
        overlap = overlaps(best)
        if sigma > 0:
            left = left * jnp.exp(-0.5 / sigma * overlap**2)
            left = jnp.where(left > score_threshold, left, -jnp.inf)
        else:
            large = overlap >= overlap_threshold if strict else overlap > overlap_threshold
            left = jnp.where(large, -jnp.inf, left)
        index = jnp.where(score > -jnp.inf, best, 0).astype(jnp.int32)
        return left.at[best].set(-jnp.inf), indices.at[turn].set(index), found.at[turn].set(score)

    left = jnp.where(values > score_threshold, values, -jnp.inf)
    first = left, jnp.zeros(size, jnp.int32), jnp.full(size, -jnp.inf, jnp.float32)
    _, indices, found = jax.lax.fori_loop(0, size, choose, first)
    return indices, found, (found > -jnp.inf).sum(dtype=jnp.int32)


def _first(function: str, count: Any, *results: Any) -> list[Any]:
    """Cuts results off after as many entries as there are, which a program does not know."""
    if isinstance(count, Tracer):
        advice = (
            f"{function}: how many boxes are left is known only when the program runs, and programs have fixed shapes. Use "
            "tf.image.non_max_suppression_padded(..., pad_to_max_output_size=True), or "
            "tf.image.combined_non_max_suppression."
        )
        run_as_python(advice)
        raise OperandError(advice)
    return [given(np.asarray(each)[: int(count)]) for each in results]
