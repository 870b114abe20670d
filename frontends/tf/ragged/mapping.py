"""`tf.map_fn` over ragged rows, or with results of different lengths."""

from collections.abc import Callable
from typing import Any

import numpy as np

from frontends.tf import nest
from frontends.tf._typing import Nested
from frontends.tf.autograph.converted import converted
from frontends.tf.ops.array import stack as stack_arrays
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ragged.ops import stack
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.ragged.spec import RaggedTensorSpec


def map_rows(fn: Callable[[Any], Any], elems: Nested, signature: Nested) -> Any:
    """Calls a function with each row, one after another, and stacks the results.

    Args:
        fn: takes a row of each part of `elems`, in their structure.
        elems: structure of arrays and ragged tensors with as many rows each.
        signature: `RaggedTensorSpec`s where results are to be ragged though their lengths agree.

    Returns:
        In the structure of the result: a ragged tensor where results are ragged, or their lengths differ.

    Raises:
        ValueError: the parts have not equally many rows, or there are none and nothing says what `fn` returns.
    """
    call = converted(fn)
    parts = [
        one if isinstance(one, RaggedTensor) else convert_to_tensor(one)
        for one in nest.flatten(elems)
    ]
    counts = {one.row_count if isinstance(one, RaggedTensor) else len(one) for one in parts}
    if len(counts) > 1:
        raise ValueError(
            f"tf.map_fn: elems have {sorted(counts)} rows. Give parts with equally many."
        )
    results = [
        call(nest.pack_sequence_as(elems, [part[index] for part in parts]))
        for index in range(counts.pop())
    ]
    said = [one for one in nest.flatten(signature) if isinstance(one, RaggedTensorSpec)]
    if not results:
        if not said:
            raise ValueError(
                "tf.map_fn: there are no rows, so nothing tells what fn returns. Say so: fn_output_signature=..."
            )
        spec = said[0]
        return RaggedTensor.from_row_splits(np.zeros(0, spec.dtype), np.zeros(1, np.int64))
    columns = zip(*map(nest.flatten, results), strict=True)
    return nest.pack_sequence_as(
        results[0], [_stacked(list(column), bool(said)) for column in columns]
    )


def _stacked(rows: list[Any], to_ragged: bool) -> Any:
    some_ragged = any(isinstance(row, RaggedTensor) for row in rows)
    shapes = {np.shape(row) for row in rows} if not some_ragged else set()
    if some_ragged or len(shapes) > 1 or (to_ragged and shapes != {()}):
        return stack(rows)
    return stack_arrays(rows)
