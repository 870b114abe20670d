"""Texts, as functions of the host take them: one, or an array of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.data.host_tensors import as_tensors


def texts_of(value: TensorLike, what: str) -> tuple[list[bytes], tuple[int, ...]]:
    """Returns texts as bytes, in a flat list, and the shape that they have.

    Args:
        value: a text, or an array or nested list of texts.
        what: the argument's name, for the error.

    Raises:
        ValueError: it is something else.
    """
    if isinstance(value, bytes):
        return [bytes(value)], ()
    if isinstance(value, str):
        return [value.encode()], ()
    shape = (
        np.shape(value) if isinstance(value, np.ndarray) else np.shape(np.asarray(value, object))
    )
    items = np.asarray(value, object).ravel().tolist()
    texts = [one.encode() if isinstance(one, str) else one for one in items]
    wrong = [one for one in texts if not isinstance(one, bytes)]
    if wrong or (not texts and isinstance(value, np.ndarray) and value.dtype.kind not in "OSU"):
        kind = type(wrong[0] if wrong else value).__name__
        raise ValueError(
            f"{what} must be text (bytes or str, or an array of them), got {kind}.\n"
            "Texts are in host memory: call this in a map of a dataset, or before a compiled function."
        )
    return texts, tuple(shape)


def in_shape(values: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Gives a list of texts a shape; a single one stays a text."""
    if not shape:
        return as_tensors(values[0])
    array = np.empty(len(values), object)
    array[:] = values
    return as_tensors(array.reshape(shape))
