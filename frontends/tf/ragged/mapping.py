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
        signature: dtypes and specs of the result, in its structure, or one for all; None means those of `elems`.

    Returns:
        In the structure of the result: ragged tensors where the signature says so, or where the lengths of rows differ.

    Raises:
        ValueError: the parts have not equally many rows, or a result is not what the signature says.
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
    like = elems if signature is None else signature
    said = parts if signature is None else nest.flatten(signature)
    if not results:
        return nest.pack_sequence_as(like, list(map(_empty, said)))
    columns = [list(column) for column in zip(*map(nest.flatten, results), strict=True)]
    said = said * len(columns) if len(said) == 1 else said
    if len(said) != len(columns):
        raise ValueError(
            f"tf.map_fn: fn returned {len(columns)} tensors, but there are {len(said)} "
            f"{'in elems' if signature is None else 'in fn_output_signature'}. Say what it returns: "
            "fn_output_signature=(tf.float32, tf.RaggedTensorSpec([None], tf.int32))."
        )
    stacked = map(_stacked, columns, said)
    return nest.pack_sequence_as(results[0], list(stacked))


def _stacked(rows: list[Any], said: Any) -> Any:
    is_ragged = any(isinstance(row, RaggedTensor) for row in rows)
    shapes = set() if is_ragged else {np.shape(row) for row in rows}
    to_ragged = isinstance(said, (RaggedTensor, RaggedTensorSpec)) and shapes != {()}
    return stack(rows) if is_ragged or len(shapes) > 1 or to_ragged else stack_arrays(rows)


def _empty(said: Any) -> Any:
    if not isinstance(said, (RaggedTensor, RaggedTensorSpec)):
        return convert_to_tensor(np.zeros(0, np.dtype(getattr(said, "dtype", said))))
    found: Any = np.zeros(0, said.dtype)
    for _ in range(max(said.ragged_rank or 1, 1)):
        found = RaggedTensor.from_row_splits(found, np.zeros(1, np.int64))
    return found
