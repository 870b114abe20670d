"""Functions that run converted while a program is traced, and as they are otherwise."""

import functools
from collections.abc import Callable
from typing import Any

from frontends.tf.autograph.status import converting, is_enabled, is_marked, mark
from spmd._jax_internals import is_tracing


def converted(function: Callable[..., Any], autograph: bool = True) -> Callable[..., Any]:
    """Makes a function whose calls in a program run its converted form.

    Args:
        function: a function, method, partial or other callable.
        autograph: whether it, and what it calls, is converted.

    Returns:
        A function; the same one, if it is marked.
    """
    if is_marked(function):
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        if not is_tracing():
            return function(*args, **kwargs)
        with converting(autograph and is_enabled()):
            if not is_enabled():
                return function(*args, **kwargs)
            from frontends.tf.autograph.calls import converted_call  # malt takes a while to import

            return converted_call(function, args, kwargs)

    # Not its module: by this package's, searches for state know that they are to look further.
    functools.update_wrapper(call, function, ("__name__", "__qualname__", "__doc__"), ())
    return mark(call)
