"""Labels that are texts, by the position of each in a vocabulary."""

from collections.abc import Sequence
from typing import Any

import jax

from frontends.tf.feature_column import Texts
from frontends.tf.feature_column.vocabulary_table import TextTable


class LabelVocabulary:
    """The texts that labels are."""

    def __init__(self, words: Sequence[Any], count: int | None = None) -> None:
        """Takes the texts, in the order of the classes.

        Args:
            words: a list or tuple of texts.
            count: how many classes there are; None for those of the list.

        Raises:
            ValueError: it is no list, or of another length.
        """
        if not isinstance(words, (list, tuple)):
            raise ValueError(
                f"label_vocabulary should be a list or a tuple. Given type: {type(words)}"
            )
        if count is not None and len(words) != count:
            raise ValueError(
                f'"label_vocabulary" does not have "n_classes" items. len(label_vocabulary)={len(words)}, '
                f"n_classes={count}, label_vocabulary={words}"
            )
        texts = [one.decode() if isinstance(one, bytes) else str(one) for one in words]
        self.words = tuple(texts)

    def find(self, labels: Any) -> jax.Array:
        """Returns the positions of labels; -1 for a text that is not in it.

        Raises:
            ValueError: they are no texts.
        """
        if not isinstance(labels, Texts):
            raise ValueError(
                f"Labels dtype should be string if there is a vocabulary. Instead got {labels.dtype}."
            )
        return TextTable(self.words).find(labels)


def vocabulary_of(words: Any, count: int | None = None) -> LabelVocabulary | None:
    """Makes a vocabulary, if there are words."""
    return None if words is None else LabelVocabulary(words, count)


def check_no_texts(labels: Any) -> None:
    """Refuses texts where there is no vocabulary.

    Raises:
        ValueError: labels are texts.
    """
    if isinstance(labels, Texts):
        raise ValueError(
            "Labels dtype should be integer. Instead got string. Give the estimator or its head the texts: "
            "label_vocabulary=[...]."
        )


def check_thresholds(thresholds: Any) -> tuple[float, ...]:
    """Checks thresholds of probabilities.

    Raises:
        ValueError: one is not in (0, 1).
    """
    found = tuple(thresholds or ())
    if any(not 0 < one < 1 for one in found):
        raise ValueError(f"thresholds not in (0, 1): {found}.")
    return found


def check_keys(keys: Sequence[str] | None, known: Sequence[str]) -> Sequence[str]:
    """Checks names of predictions; None means all.

    Raises:
        ValueError: there is no prediction of a name.
    """
    for key in keys or ():
        if key not in known:
            raise ValueError(
                f"Prediction key must be in PredictionKeys, given: {key}. Valid prediction keys include {list(known)}."
            )
    return keys or known
