"""Texts by their fingerprints: what a program gives back of the texts that it was given."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from frontends.tf.feature_column.texts import Texts


class KnownTexts:
    """Texts that can be found by their fingerprints.

    Examples:
        >>> words = np.array(["fig", "plum"])
        >>> KnownTexts([words]).behind(Texts.of(words[:1]).words).tolist()
        [b'fig']
    """

    def __init__(self, arrays: Iterable[Any]) -> None:
        """Takes arrays of texts, of any shapes."""
        self._found: dict[bytes, bytes] = {}
        for one in arrays:
            array = np.asarray(one)
            keys = _keys(np.asarray(Texts.of(array).words))
            self._found |= zip(keys, map(_as_bytes, array.ravel().tolist()), strict=True)

    def behind(self, words: np.ndarray) -> np.ndarray:
        """Returns texts as bytes, in an array of objects.

        Args:
            words: their fingerprints, as in `Texts`.

        Raises:
            ValueError: there is no such text.
        """
        found = np.empty(words.shape[:-1], object)
        try:
            found.reshape(-1)[:] = [self._found[key] for key in _keys(words)]
        except KeyError:
            raise ValueError(
                "A prediction is a text that the batch has not. Predictions can be texts of the batch; write others in what "
                "takes the predictions, or predict numbers that stand for them."
            ) from None
        return found


def _keys(words: np.ndarray) -> list[bytes]:
    """Makes keys of a dictionary of fingerprints."""
    return [one.tobytes() for one in words.reshape(-1, 2)]


def _as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text
