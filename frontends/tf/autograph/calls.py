"""The operator for calls: converts the user's functions, and leaves libraries alone."""

import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

from malt.operators import py_builtins

from frontends.tf.autograph.builtins import OVERLOADS
from frontends.tf.autograph.conversion import convert
from frontends.tf.autograph.status import is_enabled, is_marked
from spmd.source_lines import is_library

# They look at the frame that calls them, which is another one in converted code.
_OF_FRAMES: dict[Any, Callable[..., Any]] = {
    eval: py_builtins.eval_in_original_context,
    super: py_builtins.super_in_original_context,
}
_OF_SCOPES: dict[Any, Callable[..., Any]] = {
    globals: py_builtins.globals_in_original_context,
    locals: py_builtins.locals_in_original_context,
}


def converted_call(
    f: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None,
    caller_fn_scope: Any = None,
    options: object = None,
) -> Any:
    """Calls a function as converted code does.

    Args:
        f: the function.
        args: its positional arguments.
        kwargs: its keyword arguments; None for none.
        caller_fn_scope: of the function that calls it.
        options: malt's.
    """
    kwargs = kwargs or {}
    if isinstance(f, (types.BuiltinFunctionType, type)):
        if f in _OF_FRAMES and caller_fn_scope is not None:
            return _OF_FRAMES[f](f, args, caller_fn_scope)
        if f in _OF_SCOPES and caller_fn_scope is not None:
            return _OF_SCOPES[f](caller_fn_scope)
        # Constructors run as they are, as in TensorFlow.
        return OVERLOADS.get(f, f)(*args, **kwargs)
    if not is_enabled() or is_marked(f):
        return f(*args, **kwargs)
    if type(f) is functools.partial:
        return converted_call(f.func, (*f.args, *args), {**f.keywords, **kwargs}, caller_fn_scope)
    function, own = _function_of(f)
    if function is None or not is_convertible(function):
        return f(*args, **kwargs)
    new = convert(function)
    return f(*args, **kwargs) if new is None else new(*own, *args, **kwargs)


def _function_of(f: Any) -> tuple[types.FunctionType | None, tuple[Any, ...]]:
    """Finds the function that a call runs, and the object that it gets first."""
    if isinstance(f, types.FunctionType):
        return f, ()
    if isinstance(f, types.MethodType):
        return (
            (f.__func__, (f.__self__,))
            if isinstance(f.__func__, types.FunctionType)
            else (None, ())
        )
    call = getattr(type(f), "__call__", None)  # noqa: B004  (the function is wanted)
    return (call, (f,)) if isinstance(call, types.FunctionType) else (None, ())


def is_convertible(function: types.FunctionType) -> bool:
    """Tells whether a function is the user's, and one that returns a value once."""
    code = function.__code__
    endless = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    if is_marked(function) or code.co_flags & endless or code.co_filename.startswith("<string"):
        return False
    # A wrapper may have its `__module__` of what it wraps: both of a library are a library's own wrapper, but one of
    # the user's may hide the user's function, or be the user's own.
    return not (
        is_library(function.__module__) and is_library(function.__globals__.get("__name__"))
    )
