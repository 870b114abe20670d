"""Where texts or integers are in a vocabulary."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf.feature_column.texts import Texts

_INT32 = np.iinfo(np.int32)


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
        high, low = (jnp.asarray(words) for words in self._words.T)
        wanted = texts.fingerprints
        # Binary search for pairs of words: searchsorted knows none. `at` is the last place that is not beyond the text.
        at = jnp.zeros(texts.shape, jnp.int32)
        step = 1 << (len(self._order).bit_length() - 1)
        while step:
            there = jnp.minimum(at + step, len(self._order) - 1)
            above, below = high[there], low[there]
            reached = (above < wanted.high) | (above == wanted.high) & (below <= wanted.low)
            at = jnp.where(reached, there, at)
            step >>= 1
        known = (high[at] == wanted.high) & (low[at] == wanted.low)
        return jnp.where(known, jnp.asarray(self._order)[at], -1)


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
