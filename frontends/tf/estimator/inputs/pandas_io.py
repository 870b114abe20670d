"""An `input_fn` of data frames of pandas."""

from collections.abc import Callable
from typing import Any

import numpy as np

from frontends.tf import data
from frontends.tf.estimator.inputs.numpy_io import batched, check_shuffle


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = None,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], data.Dataset]:
    """Makes an `input_fn` that gives batches of a data frame: a dict of features, by the names of its columns.

    Args:
        x: a `pandas.DataFrame`.
        y: labels: a `pandas.Series`, or a data frame, of which labels are a dict; None for none.
        batch_size: how many rows a batch has.
        num_epochs: how often to go through the rows; None repeats them without end.
        shuffle: whether to shuffle, in each epoch anew; must be said.
        queue_capacity: among how many rows to choose the next one; None among all.
        num_threads: without effect.
        target_column: no column of `x` may be called that.

    Raises:
        ValueError: `shuffle` is not given, `x` has a column of the name of the labels, or another index than they have.
        TypeError: the name of the labels is no text.

    Source: `tf.compat.v1.estimator.inputs.pandas_input_fn`.
    """
    check_shuffle(shuffle)
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    if y is not None:
        if target_column in x:
            raise ValueError(
                f"Cannot use name {target_column} for target column: DataFrame already has a column with that name: "
                f"{x.columns}"
            )
        if not np.array_equal(x.index, y.index):
            raise ValueError(
                f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}\n"
            )
    features = _arrays(x)
    labels = None if y is None else _arrays(y) if hasattr(y, "columns") else _array(y)
    rows = features if labels is None else (features, labels)
    buffer = (queue_capacity or 4 * len(x)) if shuffle else None
    return lambda: batched(rows, batch_size, num_epochs, buffer)


def _arrays(frame: Any) -> dict[str, Any]:
    return {column: _array(frame[column]) for column in frame.columns}


def _array(series: Any) -> Any:
    """Copies the values of a column; those that are objects are texts."""
    values = series.to_numpy(copy=True)
    return values.astype(str) if values.dtype == object else values
