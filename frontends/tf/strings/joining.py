"""Texts put together: `tf.strings.join` and its family."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from frontends.tf._typing import Axis, HostLike, TensorLike
from frontends.tf.data.host_arrays import (
    each,
    integers,
    shown,
    single_text,
    text_array,
)
from frontends.tf.data.iterator import OutOfRangeError
from frontends.tf.ops.convert import static_axes
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.strings.mapping import vector


def join(inputs: Sequence[Any], separator: str | bytes = "", name: str | None = None) -> Any:
    """Joins texts that are at the same place of several arrays.

    Args:
        inputs: texts, arrays of one shape or ragged tensors of the same rows; single texts go with all.
        separator: between the texts.

    Raises:
        ValueError: the shapes differ.

    Examples:
        >>> from frontends import tf
        >>> tf.strings.join([["a", "b"], "c"], separator="-").tolist()
        [b'a-c', b'b-c']

    Source: `tf.strings.join`.
    """
    between = single_text(separator, "tf.strings.join: separator")
    ragged = [one for one in inputs if isinstance(one, RaggedTensor)]
    if ragged:
        splits = [[np.asarray(one).tolist() for one in each.nested_row_splits] for each in ragged]
        if any(one != splits[0] for one in splits):
            raise ValueError("tf.strings.join: the ragged tensors have different rows.")
        flat = [one.flat_values if isinstance(one, RaggedTensor) else one for one in inputs]
        return ragged[0].with_flat_values(join(flat, separator))
    arrays = [text_array(one, f"tf.strings.join: inputs[{at}]") for at, one in enumerate(inputs)]
    shapes = {one.shape for one in arrays if one.ndim}
    if len(shapes) > 1:
        raise ValueError(
            f"Input shapes do not match: expected texts of one shape, or single texts, got {sorted(shapes)}."
        )
    shape = shapes.pop() if shapes else ()
    found = np.empty(shape, object)
    flat = found.reshape(-1)
    columns = [np.broadcast_to(one, shape).reshape(-1).tolist() for one in arrays]
    for number in range(flat.size):
        flat[number] = between.join([column[number] for column in columns])
    return shown(found)


def reduce_join(
    inputs: HostLike,
    axis: Axis = None,
    keepdims: bool = False,
    separator: str | bytes = "",
    name: str | None = None,
) -> Any:
    """Joins the texts along dimensions.

    Args:
        inputs: an array of texts, or a ragged tensor.
        axis: the dimension, or several, in the order in which to join; None means all.
        keepdims: whether they stay, with size 1.
        separator: between the texts.

    Raises:
        OutOfRangeError: there is no such dimension.

    Source: `tf.strings.reduce_join`.
    """
    between = single_text(separator, "tf.strings.reduce_join: separator")
    if isinstance(inputs, RaggedTensor):
        return _ragged_join(inputs, axis, keepdims, between)
    array = text_array(inputs, "tf.strings.reduce_join: inputs")
    given = static_axes(axis)
    axes = list(range(array.ndim)) if given is None else list(np.atleast_1d(np.asarray(given, int)))
    if any(not -array.ndim <= one < array.ndim for one in axes):
        raise OutOfRangeError(
            f"Invalid reduction dimension: {axes} for an array of {array.ndim} dimensions."
        )
    axes = [int(one) % array.ndim for one in axes]
    kept = [one for one in range(array.ndim) if one not in axes]
    order = (
        axes if given is None else axes[::-1]
    )  # as TensorFlow does it: the first one goes fastest
    rows = array.transpose(*kept, *order).reshape(*(array.shape[one] for one in kept), -1)
    found = np.empty(rows.shape[:-1], object)
    for where in np.ndindex(found.shape):
        found[where] = between.join(rows[where].tolist())
    if keepdims:
        found = found.reshape([1 if n in axes else size for n, size in enumerate(array.shape)])
    return shown(found)


def _ragged_join(inputs: RaggedTensor, axis: Axis, keepdims: bool, between: bytes) -> Any:
    from frontends.tf.ragged.reductions import reduced

    def of_rows(values: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
        parts: list[list[bytes]] = [[] for _ in range(count)]
        for text, row in zip(values.tolist(), rows.tolist(), strict=True):
            parts[row].append(text)
        return each(lambda texts: between.join(texts), vector(parts, object))

    return reduced(
        inputs,
        axis,
        keepdims,
        of_rows,
        lambda values, at: text_array(reduce_join(values, at, separator=between), "reduce_join"),
    )


def unsorted_segment_join(
    inputs: HostLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    separator: str | bytes = "",
    name: str | None = None,
) -> Any:
    """Joins the texts of each segment.

    Args:
        inputs: texts.
        segment_ids: the segment of each.
        num_segments: how many there are.
        separator: between the texts.

    Raises:
        ValueError: there is no such segment, or the shapes do not fit.

    Source: `tf.strings.unsorted_segment_join`.
    """
    between = single_text(separator, "unsorted_segment_join: separator")
    texts = text_array(inputs, "unsorted_segment_join: inputs")
    ids = integers(segment_ids, "unsorted_segment_join: segment_ids")
    count = int(integers(num_segments, "unsorted_segment_join: num_segments"))
    if ids.shape != texts.shape[: ids.ndim]:
        raise ValueError(
            f"unsorted_segment_join: the shape of inputs must begin with that of segment_ids, got {texts.shape} and {ids.shape}."
        )
    if ids.size and not 0 <= ids.min() <= ids.max() < count:
        raise ValueError(
            f"unsorted_segment_join: segment_ids must be from 0 to {count - 1}, got {ids.tolist()}."
        )
    inner = texts.shape[ids.ndim :]
    rows = texts.reshape(ids.size, -1)
    parts: list[list[list[bytes]]] = [[[] for _ in range(rows.shape[1])] for _ in range(count)]
    for row, segment in zip(rows.tolist(), ids.reshape(-1).tolist(), strict=True):
        for place, text in enumerate(row):
            parts[segment][place].append(text)
    found = np.array([[between.join(one) for one in row] for row in parts] or [], object)
    return shown(found.reshape(count, *inner))


def ngrams(
    data: HostLike,
    ngram_width: int | Sequence[int],
    separator: str | bytes = " ",
    pad_values: HostLike = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Joins neighbours in the innermost dimension.

    Args:
        data: texts, an array or a ragged tensor.
        ngram_width: how many to join, or several such numbers, whose results follow each other.
        separator: between the texts.
        pad_values: what to put before and behind each row, a text or a pair; None for nothing.
        padding_width: how often; None means one time fewer than are joined.
        preserve_short_sequences: whether a row that is too short is joined as a whole.

    Returns:
        A ragged tensor; an array, if `data` is one.

    Raises:
        ValueError: an argument does not fit.

    Source: `tf.strings.ngrams`.
    """
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    if not widths or any(not isinstance(one, int) or one < 1 for one in widths):
        raise ValueError(f"ngram_width must be integers of at least 1, got {ngram_width!r}.")
    if padding_width is not None and (pad_values is None or padding_width < 1):
        raise ValueError(
            f"padding_width must be greater than 0, and needs pad_values, got {padding_width}."
        )
    between = single_text(separator, "tf.strings.ngrams: separator")
    pair = pad_values if isinstance(pad_values, list | tuple) else (pad_values, pad_values)
    left, right = (b"" if one is None else single_text(one, "pad_values") for one in pair)

    def of_row(row: list[bytes]) -> list[bytes]:
        made: list[bytes] = []
        for width in widths:
            pad = 0
            if pad_values is not None:
                pad = width - 1 if padding_width is None else min(padding_width, width - 1)
            padded = [left] * pad + row + [right] * pad
            made += [between.join(padded[at : at + width]) for at in range(len(padded) - width + 1)]
        if preserve_short_sequences and not made and row:
            pad = 0
            if pad_values is not None:
                pad = widths[0] - 1 if padding_width is None else min(padding_width, widths[0] - 1)
            made.append(between.join([left] * pad + row + [right] * pad))
        return made

    if isinstance(data, RaggedTensor):
        if isinstance(data.values, RaggedTensor):
            return data.with_values(
                ngrams(
                    data.values,
                    widths,
                    separator,
                    pad_values,
                    padding_width,
                    preserve_short_sequences,
                )
            )
        rows = data.to_list()
    else:
        array = text_array(data, "tf.strings.ngrams: data")
        if array.ndim == 1:
            return shown(vector(of_row(array.tolist()), object))
        if array.ndim > 2:
            outer = RaggedTensor.from_uniform_row_length(
                array.reshape(-1, *array.shape[2:]), array.shape[1], array.shape[0]
            )
            return outer.with_values(
                ngrams(
                    outer.values,
                    widths,
                    separator,
                    pad_values,
                    padding_width,
                    preserve_short_sequences,
                )
            ).to_tensor()
        if array.ndim == 0:
            raise ValueError(
                "tf.strings.ngrams: data must have one dimension at least, got a single text."
            )
        rows = array.tolist()
    found = [of_row(row) for row in rows]
    made = RaggedTensor.from_row_lengths(
        vector([text for row in found for text in row], object), [len(row) for row in found]
    )
    return made if isinstance(data, RaggedTensor) else made.to_tensor()
