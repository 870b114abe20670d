"""Functions of `tf` on sparse tensors."""

from collections.abc import Callable
from typing import Any

import numpy as np

from frontends.tf.data.host_arrays import shown
from frontends.tf.dtypes import as_dtype
from frontends.tf.sparse.sparse_tensor import SparseTensor

# Of each entry; nothing that makes something else of zero.
_EACH = frozenset(
    {
        *("abs", "cast", "identity", "negative", "ones_like", "round", "sign", "sqrt", "square"),
        *("stop_gradient", "tanh", "zeros_like"),
    }
)


def on_sparse(name: str, function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Calls a function on a sparse tensor.

    Args:
        name: the last part of TensorFlow's name.
        function: what works on arrays.
        arguments: by name.

    Returns:
        The result; NotImplemented for functions that are none of sparse tensors.
    """
    first, *rest = [value for key, value in arguments.items() if key != "name"]
    if not isinstance(first, SparseTensor):
        return NotImplemented
    if name in _EACH:
        return first.with_values(np.asarray(function(first.values, *rest)))
    shape = np.asarray(first.dense_shape)
    sizes = {"shape": shape, "size": np.prod(shape), "rank": np.int64(len(shape))}
    if name not in sizes:
        return NotImplemented
    dtype = as_dtype(rest[0] if rest else "int32").dtype
    return shown(np.asarray(sizes[name]).astype(dtype))
