"""An `input_fn` of arrays of NumPy."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from frontends.tf import data


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], data.Dataset]:
    """Makes an `input_fn` that gives batches of arrays.

    Batches go on into the next epoch; only the last one may be smaller.

    Args:
        x: features: an array, or a dict of arrays by key, each with a row for each example.
        y: labels: likewise; None for none.
        batch_size: how many rows a batch has.
        num_epochs: how often to go through the rows; None repeats them without end.
        shuffle: whether to shuffle, in each epoch anew; must be said.
        queue_capacity: among how many rows to choose the next one.
        num_threads: without effect.

    Raises:
        ValueError: `shuffle` is not given. When the function is called, too: there are no rows, arrays have different numbers of
            them, or features and labels have a key in common.
        TypeError: when the function is called: `x` is neither dict nor array.

    Source: `tf.compat.v1.estimator.inputs.numpy_input_fn`.
    """
    check_shuffle(shuffle)

    def input_fn() -> data.Dataset:
        features = _features(x)
        if isinstance(y, Mapping):
            if not y:
                raise ValueError("y cannot be empty dict, use None instead.")
            common = features.keys() & y.keys()
            if common:
                raise ValueError(
                    f"{len(common)} duplicate keys are found in both x and y: {common}"
                )
        _check_lengths(features, y)
        element = dict(features) if isinstance(x, Mapping) else x
        rows = element if y is None else (element, dict(y) if isinstance(y, Mapping) else y)
        return batched(rows, batch_size, num_epochs, queue_capacity if shuffle else None)

    return input_fn


def check_shuffle(shuffle: Any) -> None:
    """Checks that a caller said whether to shuffle.

    Raises:
        ValueError: it did not.
    """
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for training); "
            f"got {shuffle}"
        )


def batched(rows: Any, batch_size: int, num_epochs: int | None, buffer: int | None) -> data.Dataset:
    """Makes a dataset of batches.

    Args:
        rows: structure of arrays.
        batch_size: how many rows a batch has.
        num_epochs: how often to go through them; None repeats them without end.
        buffer: among how many rows to choose the next one; None keeps their order.
    """
    dataset = data.Dataset.from_tensor_slices(rows)
    if buffer is not None:
        dataset = dataset.shuffle(buffer)
    return dataset.repeat(num_epochs).batch(batch_size)


def _features(x: Any) -> dict[str, Any]:
    if isinstance(x, Mapping):
        if not x:
            raise ValueError("x cannot be an empty dict")
        return {key: x[key] for key in sorted(x)}
    if not isinstance(x, np.ndarray):
        raise TypeError(f"x must be a dict or array; got {type(x).__name__}")
    if not x.size:
        raise ValueError("x cannot be an empty array")
    return {"x": x}


def _check_lengths(features: Mapping[str, Any], y: Any) -> None:
    labels = y if isinstance(y, Mapping) else {} if y is None else {"y": y}
    shapes = [{key: np.shape(one) for key, one in each.items()} for each in (features, labels)]
    if len({shape[:1] for each in shapes for shape in each.values()}) != 1:
        raise ValueError(
            "Length of tensors in x and y is mismatched. All elements in x and y must have the same length.\n"
            f"Shapes in x: {shapes[0]}\nShapes in y: {shapes[1]}\n"
        )
