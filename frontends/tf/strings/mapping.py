"""Functions that work on each text, in arrays of any shape and in ragged tensors."""

from collections.abc import Callable
from typing import Any

import numpy as np

from frontends.tf._typing import HostLike
from frontends.tf.data.host_arrays import as_text, each, shown, text_array
from frontends.tf.ragged.partitions import splits_of
from frontends.tf.ragged.ragged_tensor import RaggedTensor


def on_each(
    function: Callable[[bytes], Any], value: HostLike, what: str, dtype: Any = object
) -> Any:
    """Applies a function to each text.

    Args:
        function: takes bytes.
        value: a text, an array of texts or a ragged tensor of them.
        what: the function and its argument, for the error.
        dtype: NumPy's, of the results.

    Returns:
        The results, in the shape of the texts.
    """
    if isinstance(value, bytes | str):
        made = function(as_text(value))
        return shown(made if dtype is object else np.fromiter((made,), dtype, 1)[0])
    if isinstance(value, RaggedTensor):
        return value.with_flat_values(on_each(function, value.flat_values, what, dtype))
    return shown(each(function, text_array(value, what), dtype))


def in_parts(
    function: Callable[[bytes], list[Any]], value: HostLike, what: str, dtype: Any = object
) -> Any:
    """Takes each text apart.

    Args:
        function: returns the parts of a text.
        value: a text, an array of texts or a ragged tensor of them.
        what: the function and its argument, for the error.
        dtype: NumPy's, of the parts.

    Returns:
        An array of the parts of a single text; else a ragged tensor with one dimension more.
    """
    if isinstance(value, RaggedTensor):
        return value.with_flat_values(in_parts(function, value.flat_values, what, dtype))
    texts: Any = text_array(value, what)
    if texts.ndim == 0:
        return shown(vector(function(texts[()]), dtype))
    found = [function(text) for text in texts.reshape(-1).tolist()]
    lengths = np.array([len(parts) for parts in found], np.int64)
    made = RaggedTensor(
        vector([part for parts in found for part in parts], dtype), splits_of(lengths)
    )
    for axis in range(texts.ndim - 1, 0, -1):
        outer = int(np.prod(texts.shape[:axis]))
        made = RaggedTensor.from_uniform_row_length(made, texts.shape[axis], outer)
    return made


def vector(values: list[Any], dtype: Any) -> np.ndarray:
    """Makes an array with one axis, also of objects that are sequences."""
    array = np.empty(len(values), dtype)
    array[:] = values
    return array
