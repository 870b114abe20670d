"""What scripts say about AutoGraph: which functions it leaves alone, and what it makes of one."""

import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any

from frontends.tf.autograph.status import converting, mark


def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Leaves a function, and what it calls, as it is.

    Returns:
        The function that does; or, without `func`, a decorator.

    Examples:
        >>> @do_not_convert
        ... def double(x):
        ...     return x * 2
        >>> double(2)
        4

    Source: `tf.autograph.experimental.do_not_convert`.
    """
    if func is None:
        return do_not_convert

    def call(*args: Any, **kwargs: Any) -> Any:
        with converting(False):
            return func(*args, **kwargs)

    functools.update_wrapper(call, func, ("__name__", "__qualname__", "__doc__"), ())
    return mark(call)


def to_code(
    entity: Callable[..., Any],
    recursive: bool = True,
    experimental_optional_features: object = None,
) -> str:
    """Returns the source of what AutoGraph makes of a function.

    Raises:
        ValueError: the source of the function cannot be had, or has what cannot be converted.

    Source: `tf.autograph.to_code`.
    """
    from frontends.tf.autograph import conversion

    return conversion.to_code(_function_of(entity))


def to_graph(
    entity: Callable[..., Any],
    recursive: bool = True,
    experimental_optional_features: object = None,
) -> Callable[..., Any]:
    """Returns what AutoGraph makes of a function.

    Raises:
        ValueError: as for `to_code`.

    Source: `tf.autograph.to_graph`.
    """
    from frontends.tf.autograph import conversion

    new = conversion.convert(_function_of(entity))
    if new is None:
        raise ValueError(
            f"AutoGraph cannot convert {entity!r}: its source cannot be had, or has what cannot be converted. "
            "tf.autograph.to_code says what."
        )
    return new


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Logs which functions could not be converted, from level 1 on.

    Source: `tf.autograph.set_verbosity`.
    """
    logging.getLogger(__package__).setLevel(logging.INFO if level else logging.NOTSET)


def trace(*args: Any) -> None:
    """Prints its arguments while a program is traced.

    Source: `tf.autograph.trace`.
    """
    print(*args)


def _function_of(entity: Any) -> Any:
    entity = getattr(entity, "python_function", entity)
    function = entity.__func__ if inspect.ismethod(entity) else entity
    if not inspect.isfunction(function):
        raise ValueError(
            f"AutoGraph converts functions, but got {entity!r} of type {type(entity).__name__}. Name the function "
            "itself; of a tf.function its python_function."
        )
    return function
