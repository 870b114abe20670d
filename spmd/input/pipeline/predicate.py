"""How `filter` calls its predicate, and what the predicate may return."""

import numpy as np

from spmd.input.pipeline.element import Batch, Component, Element
from spmd.input.pipeline.map_function import MapFunction


def holds(predicate: MapFunction, element: Element) -> bool:
    """Tells whether the predicate holds for one element.

    Raises:
        TypeError: It did not return one boolean.
    """
    return bool(_checked(predicate.one(element), axes=0))


def mask(predicate: MapFunction, batch: Batch, rows: int) -> np.ndarray:
    """Tells for which rows of a batch the predicate, which must trace, holds.

    Args:
        predicate: The predicate.
        batch: At least `rows` rows.
        rows: How many of them to look at.

    Returns:
        Booleans, shape ``[rows]``.

    Raises:
        TypeError: It did not return one boolean a row.
    """
    return _checked(predicate.many(batch), axes=1)[:rows]


def _checked(result: Component, axes: int) -> np.ndarray:
    array = np.asarray(result)
    if array.dtype == np.bool_ and array.ndim == axes:
        return array
    raise TypeError(
        "filter: the predicate must return one boolean for each element, got "
        f"{array.dtype} of shape {array.shape[axes:]}.\n"
        "Fix: compare, as in filter(lambda x: x > 0), and reduce arrays with .all() or .any()."
    )
