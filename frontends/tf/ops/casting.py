"""`tf.cast`, which leaves arrays with NumPy in map functions that run on elements."""

from typing import Any

import numpy as np

from frontends.tf import dtypes
from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.data.tracing import in_map_on_host
from frontends.tf.indexed_slices import on_values
from frontends.tf.ops.convert import of_sizes


def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> Any:
    """Converts numbers; floating-point numbers lose their fraction, as in NumPy.

    Source: `tf.cast`.
    """
    if in_map_on_host() and isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "biuf":
        # Pictures have many sizes, and JAX would compile something for each.
        kind = dtypes.as_dtype(dtype)
        if kind.name != "string":
            return as_tensors(np.asarray(x).astype(kind.dtype)[()])
    known = of_sizes(lambda values: dtypes.cast(values, dtype), x)
    return (
        on_values(lambda values: dtypes.cast(values, dtype), x)
        if known is NotImplemented
        else known
    )
