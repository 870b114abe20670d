"""Functions of `tf.*` that ask what runs: the scope of names, a program, a symbolic value, the time; and hashes of bytes."""

import enum
import time
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from frontends.tf._text_hashes import fingerprints
from frontends.tf._typing import HostLike, TensorLike
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.name_scope import in_name_scope
from spmd import _jax_internals
from spmd.input.pipeline import to_element


class AggregationMethod(enum.IntEnum):
    """How gradients are added up: XLA decides it, so that all are the same here.

    Source: `tf.AggregationMethod`.
    """

    ADD_N = 0
    DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def get_current_name_scope() -> str:
    """Returns the name of the scope around the caller, without a slash at its end.

    Examples:
        >>> from frontends import tf
        >>> with tf.name_scope("outer"), tf.name_scope("inner"):
        ...     tf.get_current_name_scope()
        'outer/inner'

    Source: `tf.get_current_name_scope`.
    """
    return in_name_scope("").rstrip("/")


def inside_function() -> bool:
    """Tells whether a program is being traced.

    Source: `tf.inside_function`.
    """
    return _jax_internals.is_tracing()


def is_symbolic_tensor(x: TensorLike) -> bool:
    """Tells whether only the running program knows a value.

    Source: `tf.is_symbolic_tensor`.
    """
    return isinstance(x, Tracer)


def timestamp(name: str | None = None) -> jax.Array:
    """Returns the seconds since 1970, as of now; in a program, as of its trace.

    What differs here: float32 has no room for them, unless JAX's 64-bit types are on.

    Source: `tf.timestamp`.
    """
    return convert_to_tensor(np.float64(time.time()))


def tuple_(
    tensors: Sequence[Any], control_inputs: object = None, name: str | None = None
) -> list[Any]:
    """Returns the values of a list as they are: programs compute all that they need.

    Args:
        tensors: values, or None.
        control_inputs: accepted, and not used.

    Source: `tf.tuple`.
    """
    return [None if one is None else convert_to_tensor(one) for one in tensors]


def fingerprint(data: HostLike, method: str = "farmhash64", name: str | None = None) -> Any:
    """Hashes the bytes of each row, on the host.

    Args:
        data: rows of numbers or texts.
        method: `"farmhash64"`.

    Returns:
        Eight bytes for each row, uint8.

    Raises:
        ValueError: there is no such method.

    Source: `tf.fingerprint`.
    """
    if method not in ("farmhash64", b"farmhash64"):
        raise ValueError(f"Unsupported fingerprint method: {method!r}. There is: farmhash64.")
    array = to_element(data)
    array = array if isinstance(array, np.ndarray) else np.asarray(array)
    if array.dtype.kind in "OSU":
        flat = [one.encode() if isinstance(one, str) else one for one in array.reshape(-1).tolist()]
        hashes = fingerprints(flat)
        if array.ndim > 1:  # of the fingerprints of a row
            rows = np.asarray(hashes, "<u8").reshape(len(array), -1)
            hashes = fingerprints([row.tobytes() for row in rows])
    else:
        hashes = fingerprints([np.ascontiguousarray(row).tobytes() for row in array])
    return as_tensors(np.asarray(hashes, "<u8").view(np.uint8).reshape(-1, 8))
