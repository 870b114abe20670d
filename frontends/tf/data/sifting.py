"""Methods that leave elements out: those that fail, and those of classes that come too often."""

from collections.abc import Callable
from typing import Any, Self, SupportsIndex

import numpy as np

from frontends.tf._typing import Nested, TensorLike
from frontends.tf.data.base import DatasetBase, integer, map_function, shuffle_order
from frontends.tf.data.constants import UNKNOWN_CARDINALITY
from spmd.input.pipeline import resampled, without_errors


class Sifting(DatasetBase):
    """The methods that leave elements out for what they are."""

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Self:
        """Leaves out elements whose computation raises an exception.

        Of a file that is damaged, what follows the damage is left out. Functions that JAX traces raise nothing for single elements.

        Args:
            log_warning: Log each.

        Returns:
            A dataset of unknown cardinality.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> halves = Dataset.range(3).map(lambda x: 6 // int(x)).ignore_errors()
            >>> [int(x) for x in halves]
            [6, 3]

        Source: ``tf.data.Dataset.ignore_errors``.
        """
        return self._derive(
            lambda form: without_errors(form, bool(log_warning)), UNKNOWN_CARDINALITY
        )

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: TensorLike,
        initial_dist: TensorLike = None,
        seed: SupportsIndex | None = None,
        name: str | None = None,
    ) -> Self:
        """Leaves elements out at random, so that classes come as often as wanted; other ones than TensorFlow for the same seed.

        Args:
            class_func: Takes an element; returns the number of its class, from 0.
            target_dist: How often each class is to come; adds up to 1.
            initial_dist: How often each comes in this dataset; None to count them meanwhile.
            seed: As in `shuffle`.

        Returns:
            A dataset of pairs of a class and an element, of unknown cardinality. Reading it raises ValueError where a class has
            no entry in `target_dist`.

        Raises:
            TypeError: `class_func` cannot be called.
            ValueError: the distributions do not fit.

        Source: ``tf.data.Dataset.rejection_resample``.
        """
        function = map_function(class_func, "rejection_resample: class_func")
        target = _distribution(target_dist, "target_dist")
        initial = None if initial_dist is None else _distribution(initial_dist, "initial_dist")
        if initial is not None and initial.shape != target.shape:
            raise ValueError(
                f"rejection_resample: target_dist has {len(target)} classes, and initial_dist {len(initial)}."
            )
        order = shuffle_order(seed, True, "rejection_resample")

        def class_of(element: Nested) -> int:
            number = integer(function.one(element), "rejection_resample: the class", minimum=0)
            if number >= len(target):
                raise ValueError(
                    f"rejection_resample: class_func returned {number}, and target_dist has {len(target)} classes.\n"
                    "Fix: an entry of target_dist for each class"
                )
            return number

        return self._rebatched(
            lambda form: resampled(form, class_of, target, initial, order),
            UNKNOWN_CARDINALITY,
            None,
            order,
        )


def _distribution(value: TensorLike, name: str) -> np.ndarray:
    found = np.asarray(value, np.float64)
    if found.ndim != 1 or not len(found) or (found < 0).any() or not found.sum() > 0:
        raise ValueError(
            f"rejection_resample: {name} must be a list of numbers from 0 to 1, got {value!r:.80}.\nFix: {name}=[0.5, 0.5]"
        )
    return found / found.sum()
