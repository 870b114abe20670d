"""Texts of the batch that a step computes on, beside it: the step has fingerprints of them, and predictions may be texts."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from frontends.tf.feature_column import KnownTexts, has_texts, prepare_beside


class BatchTexts:
    """The texts of the batch that was read last."""

    def __init__(self) -> None:
        """Knows none as yet."""
        self._are_beside = False
        self._texts: tuple[Any, ...] = ()
        self._known: KnownTexts | None = None  # until somebody asks

    def beside(self, dataset: Any) -> Any:
        """Has a dataset give what steps take, and the texts beside it, if it has some.

        Args:
            dataset: of `tf.data`.
        """
        self._are_beside = has_texts(dataset)
        return dataset.map(prepare_beside) if self._are_beside else dataset

    def taken_from(self, elements: Iterable[Any]) -> Iterator[Any]:
        """Iterates over what steps take, and keeps the texts of the last one."""
        for element in elements:
            taken = element
            if self._are_beside:
                taken, self._texts = element
                self._known = None
            yield taken

    def behind(self, words: np.ndarray) -> np.ndarray:
        """Returns texts of the batch, as bytes.

        Args:
            words: their fingerprints, as in `Texts`.

        Raises:
            ValueError: it has no such text.
        """
        if self._known is None:
            self._known = KnownTexts(self._texts)
        return self._known.behind(words)
