"""Datasets whose elements come from one of several datasets at a time."""

import functools
from collections.abc import Iterator, Sequence
from typing import Self, SupportsIndex

import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.data.base import DatasetBase, check_datasets, integer, shuffle_order
from frontends.tf.data.constants import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from spmd.input.pipeline import drawn, mixed


class Mixing(DatasetBase):
    """The methods that mix datasets."""

    @classmethod
    def choose_from_datasets(
        cls,
        datasets: Sequence[DatasetBase],
        choice_dataset: DatasetBase,
        stop_on_empty_dataset: bool = True,
    ) -> Self:
        """Takes every element from the dataset whose number another dataset gives.

        Args:
            datasets: Datasets of elements of the same structure and dtypes.
            choice_dataset: A dataset of scalars from 0 to ``len(datasets) - 1``.
            stop_on_empty_dataset: End when the dataset whose turn it is has ended; otherwise go on to
                the next number.

        Returns:
            A dataset of unknown cardinality. Reading it raises ValueError where a number is out of
            range, and TypeError where it is not an integer.

        Raises:
            TypeError: One of them is not a dataset.
            ValueError: There is no dataset.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> parts = [Dataset.from_tensors(text).repeat() for text in ("foo", "bar", "baz")]
            >>> mixed = Dataset.choose_from_datasets(parts, Dataset.range(3).repeat(2))
            >>> " ".join(str(text) for text in mixed)
            'foo bar baz foo bar baz'

        Source: ``tf.data.Dataset.choose_from_datasets``.
        """
        parts = _checked("choose_from_datasets", datasets)
        check_datasets([choice_dataset], "choose_from_datasets")

        def numbers() -> Iterator[int]:
            for each in choice_dataset._form().elements():
                number = integer(each, "choose_from_datasets: a number of choice_dataset", 0)
                if number >= len(parts):
                    raise ValueError(
                        f"choose_from_datasets: choice_dataset has {number}, but there are "
                        f"{len(parts)} datasets.\nFix: numbers from 0 to {len(parts) - 1}"
                    )
                yield number

        return cls._combined(
            parts,
            lambda forms: mixed(forms, numbers, stop_on_empty=stop_on_empty_dataset, finite=True),
            UNKNOWN_CARDINALITY,
            choice_dataset._orders,
        )

    @classmethod
    def sample_from_datasets(
        cls,
        datasets: Sequence[DatasetBase],
        weights: TensorLike = None,
        seed: SupportsIndex | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Self:
        """Takes every element from a dataset that is drawn at random.

        Args:
            datasets: Datasets of elements of the same structure and dtypes.
            weights: How likely each is, in any unit; None for all alike.
            seed: An integer, or None. With the global seed it decides the draws, as in `shuffle`.
            stop_on_empty_dataset: End when the dataset that was drawn has ended, which keeps to the
                weights; otherwise go on with the others.
            rerandomize_each_iteration: Other draws in every pass; None means False.

        Returns:
            A dataset; of unknown cardinality, unless one of the datasets never ends.

        Raises:
            TypeError: One of them is not a dataset, or `seed` is neither an integer nor None.
            ValueError: There is no dataset; or there is not one weight for each, one is negative, or all
                are zero.

        Examples:
            >>> from frontends.tf.data import Dataset
            >>> parts = [Dataset.range(3), Dataset.range(10, 13)]
            >>> sorted(int(x) for x in Dataset.sample_from_datasets(parts, [0.5, 0.5]))
            [0, 1, 2, 10, 11, 12]

        Source: ``tf.data.Dataset.sample_from_datasets``.
        """
        parts = _checked("sample_from_datasets", datasets)
        if isinstance(weights, DatasetBase):
            raise TypeError(
                "sample_from_datasets: weights that change, in a dataset, are not supported.\n"
                "Fix: weights=[0.5, 0.5], or choose_from_datasets with numbers drawn by yourself."
            )
        given = np.ones(len(parts)) if weights is None else np.asarray(weights, np.float64)
        if given.shape != (len(parts),) or not (given >= 0).all() or not given.sum() > 0:
            raise ValueError(
                f"sample_from_datasets: expected one weight of at least 0 for each of "
                f"{len(parts)} datasets, and one above 0, got {weights!r}.\n"
                f"Fix: weights={[round(1 / len(parts), 3)] * len(parts)}"
            )
        # One that is never drawn must not be waited for.
        parts = [part for part, weight in zip(parts, given, strict=True) if weight > 0]
        order = shuffle_order(seed, bool(rerandomize_each_iteration), "sample_from_datasets")
        draw = functools.partial(drawn, given[given > 0], order)
        # It ends, unless one of them is endless and none ends it.
        finite = stop_on_empty_dataset or all(
            part._cardinality != INFINITE_CARDINALITY for part in parts
        )
        return cls._combined(
            parts,
            lambda forms: mixed(forms, draw, stop_on_empty=stop_on_empty_dataset, finite=finite),
            UNKNOWN_CARDINALITY if finite else INFINITE_CARDINALITY,
            [order],
        )


def _checked(op_name: str, datasets: Sequence[DatasetBase]) -> list[DatasetBase]:
    check_datasets(datasets, op_name)
    if not len(datasets):
        raise ValueError(f"{op_name}: expected at least one dataset.\nFix: [dataset]")
    return list(datasets)
