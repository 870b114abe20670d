"""Where rows of different lengths begin, as arrays of integers."""

from collections.abc import Sequence

import numpy as np


def splits_of(lengths: np.ndarray) -> np.ndarray:
    """Returns where rows begin, and the last one ends.

    Examples:
        >>> splits_of(np.array([2, 0, 3])).tolist()
        [0, 2, 2, 5]
    """
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def rows_of(lengths: np.ndarray) -> np.ndarray:
    """Returns the number of each value's row.

    Examples:
        >>> rows_of(np.array([2, 0, 3])).tolist()
        [0, 0, 2, 2, 2]
    """
    return np.repeat(np.arange(len(lengths)), lengths)


def places(lengths: np.ndarray) -> np.ndarray:
    """Returns the place of each value in its row.

    Examples:
        >>> places(np.array([2, 0, 3])).tolist()
        [0, 1, 0, 1, 2]
    """
    starts = np.cumsum(lengths) - lengths
    return np.arange(int(np.sum(lengths))) - np.repeat(starts, lengths)


def coordinates(levels: Sequence[np.ndarray]) -> np.ndarray:
    """Returns where each value is, as rows of indices, the outermost first.

    Args:
        levels: the lengths in each level.

    Examples:
        >>> coordinates([np.array([1, 2]), np.array([1, 0, 2])]).tolist()
        [[0, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    found = np.arange(len(levels[0]))[:, None]
    for lengths in levels:
        found = np.concatenate(
            [np.repeat(found, lengths, axis=0), places(lengths)[:, None]], axis=1
        )
    return found
