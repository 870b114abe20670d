"""TensorFlow's input pipelines, where TensorFlow is imported already."""

from collections.abc import Iterator
from typing import final

import jax

from spmd.input.sources.base import AnySource, Source, length_of, reject_batch_size
from spmd.typing import PyTree


@final
class TfDataSource(Source):
    """A `tf.data.Dataset` of batches.

    Source: `tf.data.Dataset.as_numpy_iterator`.
    """

    def __init__(self, source: AnySource, batch_size: int | None) -> None:
        """Wraps a dataset of batches."""
        reject_batch_size(batch_size, "A tf.data.Dataset")
        self._source = source
        # Static if the dataset dropped the remainder itself.
        for spec in jax.tree.leaves(source.element_spec)[:1]:
            shape = getattr(spec, "shape", None)
            self.full_batch_rows = shape[0] if shape is not None and shape.rank else None

    def num_batches(self, drop_remainder: bool) -> int | None:
        """Counts the batches of a pass, if TensorFlow knows."""
        # len() of a dataset raises TypeError if that is unknown or infinite.
        return None if drop_remainder else length_of(self._source)

    def batches(self) -> Iterator[PyTree]:
        """Starts a pass."""
        return self._source.as_numpy_iterator()

    def __repr__(self) -> str:
        return "tf.data.Dataset"
