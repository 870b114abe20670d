"""Functions of `tf.sparse` that combine chosen rows of an array by segments."""

from frontends.tf._typing import TensorLike
from frontends.tf.ops import segments
from frontends.tf.ops.convert import convert_to_tensor


def segment_sum(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> TensorLike:
    """Adds up the rows of each segment.

    Args:
        data: the rows.
        indices: which rows, shape (n,).
        segment_ids: the segment of each of these, from 0, sorted; shape (n,).
        num_segments: how many segments there are; None for one more than the largest, which must be known.

    Source: `tf.sparse.segment_sum`.
    """
    return _combined("sum", data, indices, segment_ids, num_segments)


def segment_mean(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> TensorLike:
    """Averages the rows of each segment; the arguments are those of `segment_sum`.

    Source: `tf.sparse.segment_mean`.
    """
    return _combined("mean", data, indices, segment_ids, num_segments)


def segment_sqrt_n(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> TensorLike:
    """Adds up the rows of each segment, and divides by the square root of their number; see `segment_sum`.

    Source: `tf.sparse.segment_sqrt_n`.
    """
    return _combined("sqrt_n", data, indices, segment_ids, num_segments)


def _combined(
    kind: str,
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
) -> TensorLike:
    rows = convert_to_tensor(data)[convert_to_tensor(indices)]
    ids = convert_to_tensor(segment_ids)
    if num_segments is None:
        remedy = "Give their number: num_segments=10."
        num_segments = segments.count_of(f"tf.sparse.segment_{kind}", ids, remedy)
    return getattr(segments, f"unsorted_segment_{kind}")(rows, ids, num_segments)
