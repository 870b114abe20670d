"""When a result of ours is that of TensorFlow.

Equal are, in either direction: a value for each replica, all the same, and the value once; a number and
an array without axes; 64 bits and 32 (JAX's default); a variable and its value. Numbers may differ by
rounding. An exception matches one that a handler for TensorFlow's would catch: the same class, a common
built-in base class, or the built-in class that stands for one of TensorFlow's own.
"""

import functools
import re
from typing import Any

import numpy as np

# What TensorFlow's own exceptions mean in Python.
_BUILT_IN = {
    "InvalidArgumentError": "ValueError",
    "OutOfRangeError": "IndexError",
    "NotFoundError": "FileNotFoundError",
    "FailedPreconditionError": "RuntimeError",
    "DataLossError": "ValueError",
    "UnimplementedError": "NotImplementedError",
}
_NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
# The largest part of a number by which it may differ. An entry near zero is what is left of larger ones, and
# each of them is rounded: so it may also differ by float32's rounding of the array's largest entry. Nothing
# else is allowed: a number that stands alone, as a loss does, has to agree in itself.
_RTOL = 1e-5
_ROUNDING = float(np.finfo(np.float32).eps)


def is_error(value: Any) -> bool:
    """Tells a recorded exception."""
    return isinstance(value, dict) and "error" in value


def is_numeric(value: Any) -> bool:
    """Tells whether a result holds a number."""
    if isinstance(value, dict):
        return not is_error(value) and ("dtype" in value or any(map(is_numeric, value.values())))
    if isinstance(value, list):
        return any(map(is_numeric, value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def same(ours: Any, theirs: Any, rtol: float = _RTOL, floor: float = 0.0) -> bool:
    """Tells whether two encoded results are the same, but for a part `rtol` of each number of an array, and `floor`."""
    if is_error(ours) or is_error(theirs):
        return is_error(ours) and is_error(theirs) and bool(_classes(ours) & _classes(theirs))
    return _same(_simple(ours), _simple(theirs), rtol, floor)


def _classes(error: Any) -> set[str]:
    names = {error["error"], *error["bases"]}
    names |= {_BUILT_IN[name] for name in names if name in _BUILT_IN}
    return names - {"SpmdError"}


def _simple(value: Any) -> Any:
    """Takes the differences out that do not count."""
    if isinstance(value, dict):
        if "dtype" in value:
            return _Array(value)
        if set(value) == {"variable"}:
            return _simple(value["variable"])
        if set(value) == {"per_replica"}:
            values = [_simple(one) for one in value["per_replica"]]
            same_everywhere = all(_same(one, values[0]) for one in values)
            return values[0] if same_everywhere else {"per_replica": values}
        if set(value) == {"spec"}:
            shape, dtype = value["spec"]
            return {"spec": [shape, _NARROW.get(dtype, dtype)]}
        return {key: _simple(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_simple(one) for one in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _Array({"dtype": None, "shape": [], "value": [value]})
    return value


class _Array:
    def __init__(self, value: Any) -> None:
        self.dtype = _NARROW.get(value["dtype"], value["dtype"])
        self.shape = value["shape"]
        self.items = value["value"]

    def same(self, other: "_Array", rtol: float, floor: float) -> bool:
        if self.shape != other.shape:
            return False
        if None not in (self.dtype, other.dtype) and self.dtype != other.dtype:
            return False
        if "string" in (self.dtype, other.dtype):
            return self.items == other.items
        ours, theirs = (np.asarray(items, np.float64) for items in (self.items, other.items))
        finite = np.abs(theirs[np.isfinite(theirs)])
        # A larger part comes of more steps, in which roundings add up as well.
        rounding = _ROUNDING * finite.max(initial=0.0) * rtol / _RTOL
        return np.allclose(ours, theirs, rtol=rtol, atol=rounding + floor, equal_nan=True)


def _same(ours: Any, theirs: Any, rtol: float = _RTOL, floor: float = 0.0) -> bool:
    if isinstance(ours, _Array) or isinstance(theirs, _Array):
        both = isinstance(ours, _Array) and isinstance(theirs, _Array)
        return both and ours.same(theirs, rtol, floor)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(
            _same(ours[key], theirs[key], rtol, floor) for key in ours
        )
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(
            _same(one, other, rtol, floor) for one, other in zip(ours, theirs, strict=True)
        )
    return type(ours) is type(theirs) and ours == theirs


def matches(pattern: str, text: str) -> bool:
    """Tells whether a text has a pattern's form; `*` stands for anything."""
    return _compiled(pattern).fullmatch(text) is not None


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # Every case is held against every pattern, and `re` itself remembers fewer than there are.
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.S)


def short(value: Any) -> str:
    """Shows a result in a line."""
    if is_error(value):
        return f"{value['error']}: {value['message'][:90]}"
    if isinstance(value, dict):
        if "dtype" in value:
            return f"{value['dtype']}{value['shape']}{value['value']}"
        if set(value) == {"per_replica"}:
            return "each" + short(value["per_replica"])
        return "{" + ", ".join(f"{k}: {short(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(short, value)) + "]"
    return repr(value)
