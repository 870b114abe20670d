"""Which functions do the same: a lambda that a loop makes anew must not be compiled anew."""

import functools
import types
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from spmd.state import cell_contents


class Inlined:
    """A callable that, called in a step, is the function that it wraps.

    Attributes:
        __wrapped__: the function.
    """

    __wrapped__: Callable[..., Any]


def function_key(function: object, inside: tuple[object, ...] = ()) -> Hashable:
    """Makes a key that is equal for functions that do the same.

    What counts is the code, and what it is bound to: closure, defaults, arguments of a partial, the object
    of a method. Numbers and texts count by their values, functions by their own keys, other objects by
    their identities; whoever keeps a key must keep the function as well.

    Args:
        function: a function, method, partial or other callable.
        inside: the functions that it was found in.

    Returns:
        The key.

    Examples:
        >>> make = lambda number: lambda: number
        >>> (
        ...     function_key(make(1)) == function_key(make(1)),
        ...     function_key(make(1)) == function_key(make(2)),
        ... )
        (True, False)
    """
    if any(function is outer for outer in inside):
        return "recursion"
    inside = (*inside, function)

    def key(value: object) -> Hashable:
        if isinstance(value, (bool, int, float, str, bytes, type(None))):
            return (type(value), repr(value))  # 0.0 and -0.0 are equal, but not the same
        return function_key(value, inside)

    def items(mapping: Mapping[str, object]) -> Hashable:
        return tuple((name, key(value)) for name, value in mapping.items())

    if isinstance(function, Inlined):
        return key(function.__wrapped__)
    if isinstance(function, functools.partial):
        return (key(function.func), tuple(map(key, function.args)), items(function.keywords))
    if isinstance(function, types.MethodType):
        return (key(function.__func__), id(function.__self__))
    if isinstance(function, types.FunctionType):
        cells = tuple(key(contents) for contents in map(cell_contents, function.__closure__ or ()))
        defaults = tuple(map(key, function.__defaults__ or ()))
        # Code with the same text on the same line is equal, also in two modules.
        module = id(function.__globals__)
        return (function.__code__, module, cells, defaults, items(function.__kwdefaults__ or {}))
    return id(function)
