"""`tf.cast`, which leaves arrays with NumPy in map functions that run on elements."""

from typing import Any

import numpy as np

from frontends.tf import dtypes
from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.data.host_tensors import HostTensor
from frontends.tf.data.tracing import in_map_on_host


def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> Any:
    """Converts numbers; floating-point numbers lose their fraction, as in NumPy.

    Source: `tf.cast`.
    """
    if in_map_on_host() and isinstance(x, np.ndarray) and x.ndim and _is_plain(x.dtype):
        # Pictures have many sizes, and JAX would compile something for each.
        return x.astype(dtypes.jax_dtype(dtype)).view(HostTensor)
    return dtypes.cast(x, dtype)


def _is_plain(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "biuf" and (dtype.itemsize < 8 or dtype.kind == "f")
