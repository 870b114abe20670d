"""Elements of datasets for NumPy: what `as_numpy_iterator` hands out."""

from typing import Any

import jax
import numpy as np

from frontends.tf._typing import Nested


def as_numpy(element: Nested) -> Any:
    """Makes the texts in an element bytes, as TensorFlow has them in NumPy; the rest is NumPy's already.

    Args:
        element: arrays and scalars, in tuples, lists and dicts.

    Examples:
        >>> as_numpy({"name": np.array(["a", "b"]), "size": np.int64(3)})
        {'name': array([b'a', b'b'], dtype=object), 'size': np.int64(3)}
    """
    return jax.tree.map(_plain, element)


def _plain(leaf: Any) -> Any:
    if isinstance(leaf, str):
        return str(leaf).encode()
    if isinstance(leaf, bytes):
        return bytes(leaf)
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "USO":
        texts = np.empty(leaf.shape, object)
        for index, one in np.ndenumerate(leaf):
            texts[index] = _plain(one)
        return texts
    return leaf
