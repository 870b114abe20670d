"""TensorFlow's input pipelines, where TensorFlow is imported already."""

from collections.abc import Iterator
from typing import Any, final

import jax

from spmd.input.sources.base import Source, imported, length_of, reject_batch_size


@final
class TfDataSource(Source):
    """A `tf.data.Dataset` of batches.

    Source: `tf.data.Dataset.as_numpy_iterator`.
    """

    @classmethod
    def accepts(cls, source: Any, batch_size: int | None) -> bool:
        """Accepts TensorFlow's class."""
        return isinstance(source, imported("tensorflow", "data.Dataset"))

    def __init__(self, source: Any, batch_size: int | None) -> None:
        """Wraps a dataset of batches."""
        reject_batch_size(batch_size, "A tf.data.Dataset")
        self._source = source

    @property
    def full_batch_rows(self) -> int | None:
        """Rows of a full batch: static if the dataset dropped the remainder itself."""
        for spec in jax.tree.leaves(self._source.element_spec):
            shape = getattr(spec, "shape", None)
            return shape[0] if shape is not None and shape.rank else None
        return None

    def num_batches(self, drop_remainder: bool) -> int | None:
        """Counts the batches of a pass, if TensorFlow knows."""
        # len() of a dataset raises TypeError if that is unknown or infinite.
        return None if drop_remainder else length_of(self._source)

    def batches(self) -> Iterator[Any]:
        """Starts a pass."""
        return self._source.as_numpy_iterator()

    def __repr__(self) -> str:
        return "tf.data.Dataset"
