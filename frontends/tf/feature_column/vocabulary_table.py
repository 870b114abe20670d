"""Where texts or integers are in a vocabulary."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.feature_column.texts import Texts
from frontends.tf.feature_column.uint64 import UInt64

_INT32 = np.iinfo(np.int32)
# Up to so many words, comparing a text with all of them is a few operations of little work; a search is many, each of which takes
# time to trace and to compile.
_FEW_WORDS = 128


class TextTable:
    """Finds texts, by their fingerprints."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """Sorts a vocabulary, whose words differ."""
        words = Texts.of(list(vocabulary)).words
        # By the upper words first.
        self._order = np.lexsort((words[:, 1], words[:, 0])).astype(np.int32)
        self._words = words[self._order]

    def find(self, texts: Texts) -> jax.Array:
        """Returns the texts' places in the vocabulary, int32; -1 for those that are not in it."""
        find = _compare if len(self._order) <= _FEW_WORDS else _search
        high, low = self._words.T
        return find(texts.fingerprints, high, low, self._order)


# Compiled as wholes, for code that runs op by op; and traced once for all columns of a size. The words are arguments, since a tape
# does not see through constants.
@jax.jit
def _compare(wanted: UInt64, high: jax.Array, low: jax.Array, order: jax.Array) -> jax.Array:
    """Finds texts by comparing them with each word; see `TextTable.find`."""
    known = (wanted.high[..., None] == high) & (wanted.low[..., None] == low)
    return jnp.where(known, order, -1).max(-1)


@jax.jit
def _search(wanted: UInt64, high: jax.Array, low: jax.Array, order: jax.Array) -> jax.Array:
    """Finds texts by a binary search for pairs of words, of which searchsorted knows none; see `TextTable.find`."""
    # The last place that is not beyond the text.
    at = jnp.zeros(wanted.low.shape, jnp.int32)
    step = 1 << (len(order).bit_length() - 1)
    while step:
        there = jnp.minimum(at + step, len(order) - 1)
        above, below = high[there], low[there]
        reached = (above < wanted.high) | (above == wanted.high) & (below <= wanted.low)
        at = jnp.where(reached, there, at)
        step >>= 1
    known = (high[at] == wanted.high) & (low[at] == wanted.low)
    return jnp.where(known, order[at], -1)


class IntegerTable:
    """Finds integers."""

    def __init__(self, vocabulary: Sequence[int]) -> None:
        """Sorts a vocabulary, whose integers differ."""
        numbers: np.ndarray[Any, Any] = np.array(vocabulary, np.int64)
        order = np.argsort(numbers).astype(np.int32)
        # Features hold no others while JAX's 64-bit types are off.
        fits = ((numbers >= _INT32.min) & (numbers <= _INT32.max))[order]
        self._order, self._numbers = order[fits], numbers[order][fits].astype(np.int32)

    def find(self, values: jax.Array) -> jax.Array:
        """Returns the integers' places in the vocabulary, int32; -1 for those that are not in it."""
        if not len(self._numbers):
            return jnp.full(values.shape, -1, jnp.int32)
        numbers = jnp.asarray(self._numbers)
        at = jnp.searchsorted(numbers, values).clip(0, len(numbers) - 1)
        return jnp.where(numbers[at] == values, jnp.asarray(self._order)[at], -1)
