"""What `predict` yields of the predictions for a batch."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from frontends.tf import nest


def selected(predictions: Any, keys: Sequence[str] | str | None, order: Iterable[str]) -> Any:
    """Returns those of a batch's predictions that are wanted.

    Args:
        predictions: an array, or arrays by name.
        keys: which; None for all.
        order: their names, in the order of the model function.

    Raises:
        ValueError: there are no such keys, or predictions have no names.
    """
    wanted = [keys] if isinstance(keys, str) else keys
    if not isinstance(predictions, Mapping):
        if wanted:
            raise ValueError(
                f"predict_keys={keys!r} names predictions, but the model function returns one tensor. Leave predict_keys out, or "
                'return EstimatorSpec(mode, predictions={"y": y}).'
            )
        return predictions
    # JAX has sorted the names.
    found = {key: predictions[key] for key in order if not wanted or key in wanted}
    if not found:
        raise ValueError(
            f"Expected to run at least one output from {sorted(predictions)}, provided {wanted}."
        )
    return found


def rows_of(predictions: Any) -> Iterator[Any]:
    """Iterates over the rows of a batch's predictions.

    Raises:
        ValueError: they have different numbers of rows.
    """
    shapes = [np.shape(one) for one in jax.tree.leaves(predictions)]
    counts = {shape[:1] for shape in shapes}
    if len(counts) != 1 or () in counts:
        named = predictions if isinstance(predictions, Mapping) else dict(enumerate(shapes))
        shown = ", ".join(f"{key} {np.shape(one)}" for key, one in named.items())
        raise ValueError(
            f"Batch length of predictions should be same, but their shapes are: {shown}. Give each the rows of the batch as its first "
            "axis, or take whole batches: predict(input_fn, yield_single_examples=False)."
        )
    for index in range(shapes[0][0]):
        yield nest.map_structure(lambda one, index=index: one[index], predictions)
