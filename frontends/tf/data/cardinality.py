"""How many elements a transformed dataset has, worked out without reading it.

A cardinality is a count, `INFINITE_CARDINALITY` or `UNKNOWN_CARDINALITY`; the rules are
TensorFlow's (``CardinalityInternal`` of each dataset op).
"""

from collections.abc import Iterable

from frontends.tf.data.constants import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY


def batch(n: int, batch_size: int, drop_remainder: bool) -> int:
    """Returns the number of batches of `n` elements."""
    if n < 0:
        return n
    return n // batch_size if drop_remainder else -(-n // batch_size)


def concatenate(first: int, second: int) -> int:
    """Returns the number of elements of two datasets, one after the other."""
    if INFINITE_CARDINALITY in (first, second):
        return INFINITE_CARDINALITY
    if UNKNOWN_CARDINALITY in (first, second):
        return UNKNOWN_CARDINALITY
    return first + second


def repeat(n: int, count: int | None) -> int:
    """Returns the number of elements of `count` passes (None: without end)."""
    if n == 0 or count == 0:
        return 0
    if count is None:
        return INFINITE_CARDINALITY
    return n if n < 0 else n * count


def shard(n: int, num_shards: int, index: int) -> int:
    """Returns the number of elements of shard `index`."""
    return n if n < 0 else n // num_shards + (index < n % num_shards)


def skip(n: int, count: int | None) -> int:
    """Returns the number of elements after the first `count` (None: after all of them)."""
    if count is None:
        return 0
    return n if n < 0 else max(0, n - count)


def take(n: int, count: int | None) -> int:
    """Returns the number of elements among the first `count` (None: all of them)."""
    if count == 0:
        return 0
    if count is None or n == UNKNOWN_CARDINALITY:
        return n
    return count if n == INFINITE_CARDINALITY else min(n, count)


def unbatch(n: int) -> int:
    """Returns the number of rows of `n` batches, unknown unless there are none or no end of them."""
    return n if n in (0, INFINITE_CARDINALITY) else UNKNOWN_CARDINALITY


def window(n: int, size: int, shift: int, stride: int, drop_remainder: bool) -> int:
    """Returns the number of windows over `n` elements."""
    if n < 0:
        return n
    if not drop_remainder:
        return -(-n // shift)
    return max(0, (n - (size - 1) * stride - 1) // shift + 1)


def zipped(sizes: Iterable[int]) -> int:
    """Returns the number of elements of datasets read side by side: the shortest one's."""
    sizes = list(sizes)
    if UNKNOWN_CARDINALITY in sizes:
        return UNKNOWN_CARDINALITY
    return min((n for n in sizes if n != INFINITE_CARDINALITY), default=INFINITE_CARDINALITY)
