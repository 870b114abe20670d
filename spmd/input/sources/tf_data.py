"""TensorFlow's input pipelines, where TensorFlow is imported already."""

import jax

from spmd.input.sources.base import AnySource, BatchesSource, length_of, reject_batch_size


def tf_data_source(source: AnySource, batch_size: int | None) -> BatchesSource:
    """Reads a `tf.data.Dataset` of batches.

    Source: `tf.data.Dataset.as_numpy_iterator`.
    """
    reject_batch_size(batch_size, "A tf.data.Dataset")
    first = next(iter(jax.tree.leaves(source.element_spec)), None)
    shape = getattr(first, "shape", None)
    # Static if the dataset dropped the remainder itself.
    rows = shape[0] if shape is not None and shape.rank else None
    # len() of a dataset raises TypeError if that is unknown or infinite.
    return BatchesSource(
        "tf.data.Dataset", source.as_numpy_iterator, lambda: length_of(source), rows
    )
