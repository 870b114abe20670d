"""Dimensions of ragged tensors made one."""

from typing import Any

import numpy as np

from frontends.tf._typing import HostLike
from frontends.tf.ragged.operators import is_ragged


def merged(value: HostLike, first: int, last: int) -> Any:
    """Makes one dimension of those from the first to the last one."""
    if first == last:
        return value
    if not is_ragged(value):
        shape = np.shape(value)
        return value.reshape(*shape[:first], -1, *shape[last + 1 :])
    if first == 0:
        return merged(value._values, 0, last - 1)
    if first > 1:
        return type(value)(
            merged(value._values, first - 1, last - 1), value._splits, value._uniform
        )
    return _flattened(value, last)


def _flattened(value: Any, last: int) -> Any:
    """Makes one dimension of those from 1 to the last one."""
    inner = value._values
    for _ in range(last - 1):
        if is_ragged(inner):
            value = type(value)(inner._values, inner._splits[value._splits])
        else:
            size = inner.shape[1]
            value = type(value)(inner.reshape(-1, *inner.shape[2:]), value._splits * size)
        inner = value._values
    return value
