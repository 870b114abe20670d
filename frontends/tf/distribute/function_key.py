"""Which functions are one step: a lambda that a loop makes anew must not be compiled anew."""

import functools
import types
from collections.abc import Callable, Hashable
from typing import Any

from spmd.state import cell_contents


def function_key(fn: Any, inside: tuple[Any, ...] = ()) -> Hashable:
    """What makes two functions the same step: code and what it is bound to, not the object.

    A lambda or nested function is a new object at every call, and must not be compiled anew. Nor must
    one that closes over another one, or over itself.

    Args:
        fn: the function, method, partial or other callable.
        inside: the functions that it was found in.

    Returns:
        What tells steps apart.

    Examples:
        >>> make = lambda number: lambda: number
        >>> (
        ...     function_key(make(1)) == function_key(make(1)),
        ...     function_key(make(1)) == function_key(make(2)),
        ... )
        (True, False)
    """
    if any(fn is outer for outer in inside):
        return "recursion"
    inside = (*inside, fn)

    def key(thing: object) -> Hashable:
        if isinstance(thing, (bool, int, float, str, bytes, type(None))):
            return (type(thing), repr(thing))  # 0.0 and -0.0 are equal, but not the same
        return function_key(thing, inside)

    if _is_tf_function(fn):  # in a step it is what it was made of
        return key(fn.python_function)
    if isinstance(fn, functools.partial):
        return (key(fn.func), tuple(map(key, fn.args)), _items(fn.keywords, key))
    if isinstance(fn, types.MethodType):
        return (key(fn.__func__), id(fn.__self__))
    if isinstance(fn, types.FunctionType):
        cells = tuple(key(contents) for contents in map(cell_contents, fn.__closure__ or ()))
        defaults = tuple(map(key, fn.__defaults__ or ()))
        # Code with the same text on the same line is equal, also in two modules.
        where = id(fn.__globals__)
        return (fn.__code__, where, cells, defaults, _items(fn.__kwdefaults__ or {}, key))
    return id(fn)


def _is_tf_function(fn: Any) -> bool:
    return hasattr(type(fn), "experimental_get_tracing_count")


def _items(mapping: dict[str, Any], key: Callable[[Any], Hashable]) -> Hashable:
    return tuple((name, key(value)) for name, value in mapping.items())
