"""`tf.contrib.data`: the first names of `tf.data.experimental`, and two functions that methods replaced."""

from collections.abc import Callable

from frontends.tf._names import attributes, defined_in
from frontends.tf.data import Dataset


def batch_and_drop_remainder(batch_size: int) -> Callable[[Dataset], Dataset]:
    """Makes batches, and leaves out a last one that is not full.

    Args:
        batch_size: rows of a batch.

    Source: `tf.contrib.data.batch_and_drop_remainder`.
    """
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def enumerate_dataset(start: int = 0) -> Callable[[Dataset], Dataset]:
    """Puts a number before each element.

    Args:
        start: the first one.

    Source: `tf.contrib.data.enumerate_dataset`.
    """
    return lambda dataset: dataset.enumerate(start)


__getattr__, __dir__ = attributes(
    "tf.contrib.data",
    defined_in(__name__),
    borrowed={"Dataset": "frontends.tf.data", "TextLineDataset": "frontends.tf.data"}
    | {"TFRecordDataset": "frontends.tf.data", "Iterator": "frontends.tf.data"},
    rest="frontends.tf.data.experimental",
)
