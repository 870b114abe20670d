"""Items of ragged tensors: rows, slices, and parts of each row."""

import operator
from typing import Any

import numpy as np

from frontends.tf._typing import HostLike
from frontends.tf.ragged import partitions
from frontends.tf.ragged.operators import count_of, is_ragged


def item(value: HostLike, keys: list[Any]) -> Any:
    """Takes a part of a ragged tensor; each key is for a dimension, or None for a new one."""
    if not keys:
        return value
    if not is_ragged(value):
        try:
            return value[tuple(_plain(one) for one in keys)]
        except IndexError as error:
            raise ValueError(f"slice {error}") from None
    key, *rest = keys
    if key is None:
        inner = item(value, rest)
        return type(value)(inner, np.array([0, count_of(inner)]), None)
    if not isinstance(key, slice):
        return item(value.row(_plain(key)), rest)
    count = value.row_count
    picked = value
    if key != slice(None):
        picked = value.take(np.arange(count)[slice(*map(_plain, (key.start, key.stop, key.step)))])
    return _in_rows(picked, rest) if rest else picked


def _in_rows(value: HostLike, keys: list[Any]) -> Any:
    """Takes the same part of each row."""
    key, *rest = keys
    if key is None:
        inner = _in_rows(value, rest) if rest else value
        count = count_of(inner)
        return type(value)(inner, np.arange(count + 1, dtype=np.int64), 1)
    if not isinstance(key, slice):
        if value._uniform is None:
            raise ValueError(
                "Cannot index into an inner ragged dimension: rows may be too short.\nFix: a slice, such as x[:, :1]"
            )
        number = _plain(key)
        if not -value._uniform <= number < value._uniform:
            raise IndexError(
                f"Index {number} is out of bounds: rows have {value._uniform} entries."
            )
        picked = taken(value._values, value._splits[:-1] + number % value._uniform)
        return _entries(picked, rest)
    start, stop, step = map(_plain, (key.start, key.stop, key.step))
    found, lengths = [], []
    for begin, length in zip(value._splits[:-1].tolist(), value.lengths.tolist(), strict=True):
        places = np.arange(begin, begin + length)[start:stop:step]
        found.append(places)
        lengths.append(len(places))
    places = np.concatenate([np.empty(0, np.int64), *found])
    inner = _entries(taken(value._values, places), rest)
    uniform = len(range(value._uniform)[start:stop:step]) if value._uniform is not None else None
    return type(value)(inner, partitions.splits_of(np.array(lengths, np.int64)), uniform)


def _entries(values: HostLike, keys: list[Any]) -> Any:
    """Takes the same part of each entry of the values."""
    if not keys:
        return values
    if is_ragged(values):
        return _in_rows(values, keys)
    return values[(slice(None), *(_plain(one) for one in keys))]


def part(values: HostLike, start: int, stop: int) -> Any:
    """Takes the entries from `start` to before `stop`."""
    if not is_ragged(values):
        return values[start:stop]
    ends = values._splits[start : stop + 1]
    inner = part(values._values, int(ends[0]), int(ends[-1]))
    return type(values)(inner, ends - ends[0], values._uniform)


def taken(values: HostLike, places: np.ndarray) -> Any:
    """Takes the entries at some places."""
    return values.take(places) if is_ragged(values) else values[places]


def _plain(key: HostLike) -> Any:
    if key is None or key is Ellipsis:
        return key
    if isinstance(key, slice):
        return slice(*map(_plain, (key.start, key.stop, key.step)))
    return operator.index(np.asarray(key)[()])
