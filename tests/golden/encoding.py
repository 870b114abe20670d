"""Results as JSON, the same for TensorFlow's and for ours.

tensor or array   {"dtype": "float32", "shape": [2], "value": [0.5, 1.0]}; "nan", "inf" as texts
one per replica   {"per_replica": [...]}
variable          {"variable": value}
exception         {"error": class name, "message": first words, "bases": names of its base classes}
tuple             {"tuple": [...]}
number, text, None, list, dict: themselves
"""

import re
from typing import Any

import numpy as np


class Outcome:
    """An exception that a case raised."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def outcome(thunk: Any) -> Any:
    """Calls a case; an exception is a result as well."""
    try:
        return thunk()
    except Exception as error:
        return Outcome(error)


def encode(value: Any, tf: Any) -> Any:
    """Encodes a result of TensorFlow or of ours."""

    def inner(leaf: Any) -> Any:
        return encode(leaf, tf)

    if isinstance(value, Outcome):
        return _error(value.error)
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, bytes):
        return value.decode("utf8", "replace")
    if isinstance(value, tuple):
        return {"tuple": [inner(item) for item in value]}
    if isinstance(value, list):
        return [inner(item) for item in value]
    if isinstance(value, dict):
        return {str(key): inner(item) for key, item in value.items()}
    if isinstance(value, tf.Variable):
        return {"variable": _array(value.numpy())}
    specs = getattr(value, "value_specs", getattr(value, "_value_specs", None))
    if specs is not None:
        return {"per_replica": [inner(spec) for spec in specs]}
    if isinstance(value, tf.TensorSpec):
        shape = None
        if value.shape is not None:
            shape = [None if size is None else int(size) for size in value.shape]
        text = getattr(value.dtype, "kind", "") in ("O", "S", "U")
        return {"spec": [shape, "string" if text else value.dtype.name]}
    if isinstance(value, tf.distribute.DistributedValues):
        return {"per_replica": [inner(item) for item in value.values]}
    if hasattr(value, "flat_values"):
        return {"ragged": inner(value.to_list())}
    if hasattr(value, "dense_shape"):
        return {"slices": {"values": inner(value.values), "indices": inner(value.indices)}}
    if hasattr(value, "numpy"):
        value = value.numpy()
        if isinstance(value, bytes):
            return value.decode("utf8", "replace")
    if isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "__array__"):
        return _array(value)
    return {"repr": re.sub(r" at 0x[0-9a-f]+", "", repr(value))[:200]}


def _array(value: Any) -> Any:
    array = np.asarray(value)
    name = "string" if array.dtype.kind in "OSU" else str(array.dtype)
    if array.dtype.kind == "c":
        items: Any = [[_float(item.real), _float(item.imag)] for item in array.reshape(-1)]
    elif name == "string":
        items = [
            i.decode("utf8", "replace") if isinstance(i, bytes) else i for i in array.reshape(-1)
        ]
    elif array.dtype.kind in "biu":
        items = array.reshape(-1).tolist()
    else:
        items = [_float(item) for item in array.astype(np.float64).reshape(-1)]
    return {"dtype": name, "shape": list(array.shape), "value": items}


def _float(value: Any) -> Any:
    number = float(value)
    return number if np.isfinite(number) else str(number)


def _error(error: BaseException) -> Any:
    message = re.sub(r"0x[0-9a-f]{6,}", "0x..", " ".join(str(error).split()))
    bases = [base.__name__ for base in type(error).__mro__[1:]]
    bases = [name for name in bases if name not in ("Exception", "BaseException", "object")]
    return {"error": type(error).__name__, "message": message[:120], "bases": bases}
