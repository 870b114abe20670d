"""Rows of ragged tensors and arrays put together."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from frontends.tf.ragged import partitions
from frontends.tf.ragged.operators import is_ragged


def joined(parts: Sequence[Any]) -> Any:
    """Puts the rows of ragged tensors, or of arrays, one after the other."""
    kind = next((type(part) for part in parts if is_ragged(part)), None)
    if kind is None:
        return np.concatenate(parts)
    made = [part if is_ragged(part) else _as_ragged(kind, part) for part in parts]
    lengths = np.concatenate([part.lengths for part in made])
    uniform = {part._uniform for part in made}
    inner = joined([part._values for part in made])
    return kind(inner, partitions.splits_of(lengths), uniform.pop() if len(uniform) == 1 else None)


def _as_ragged(kind: type[Any], array: np.ndarray) -> Any:
    rows, columns = array.shape[:2]
    return kind(
        array.reshape(rows * columns, *array.shape[2:]),
        np.arange(rows + 1, dtype=np.int64) * columns,
    )
