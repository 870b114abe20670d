"""Attributes that the user's code sees as TensorFlow's, and libraries as JAX's.

A script asks `x.shape.as_list()` and `x.dtype.is_floating`. JAX, Flax, Keras and this package read the same
attributes all the time, and must find what JAX put there: a plain tuple, and a dtype of NumPy. So a property
looks at the file of the code that asks, which costs some 50 ns.
"""

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np

from frontends.tf.dtypes import BY_NUMPY, DTYPES
from frontends.tf.tensor_shape import TensorShape
from spmd.source_lines import is_library, is_user_file

# Whether the code of a file is a library's.
_LIBRARIES: dict[str, bool] = {}


def seen_by_users(
    read: Callable[[Any], Any], show: Callable[[Any], Any], doc: str | None = None
) -> Any:
    """Makes a property that the user's code sees differently.

    Args:
        read: returns what libraries see of an object.
        show: returns what the user's code sees of it.
        doc: the property's docstring; None takes that of `read`.
    """

    def get(self: Any) -> Any:
        frame = sys._getframe(1)
        library = _LIBRARIES.get(frame.f_code.co_filename)
        if library is None:
            library = is_library_code(frame.f_code, frame.f_globals.get("__name__"))
        return read(self) if library else show(self)

    return property(get, doc=doc or read.__doc__)


def as_shape_seen(shape: tuple[Any, ...]) -> TensorShape:
    """Returns an array's shape as a `tf.TensorShape`; while JAX exports, sizes may be symbols."""
    return tuple.__new__(TensorShape, shape)


def as_dtype_seen(dtype: Any) -> Any:
    """Returns an array's dtype as a `tf.DType`; that of random keys, which TensorFlow lacks, as it is."""
    if isinstance(dtype, np.dtype) and dtype.kind in "OSU":
        return DTYPES["string"]
    return BY_NUMPY.get(dtype, dtype)


def is_library_code(code: CodeType, module: str | None) -> bool:
    """Tells whether code is a library's.

    Args:
        code: of a function, or of a frame.
        module: the name of its module.
    """
    path = code.co_filename
    if path.startswith("<"):  # of many pieces of code: `python -c`, doctests, dataclasses
        return is_library(module)
    found = _LIBRARIES.get(path)
    if found is None:
        # By name as well: JAX may be installed where no library is expected.
        found = _LIBRARIES[path] = is_library(module) or not is_user_file(path)
    return found
