"""`tf.contrib.framework.arg_scope`: arguments that functions get in a block without being given them."""

import contextlib
import contextvars
import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, TypeVar

from spmd.assigned import assigned

_Function = TypeVar("_Function", bound=Callable[..., Any])
# By function: its arguments, by name.
_Scope = Mapping[Callable[..., Any], Mapping[str, Any]]
_SCOPE = contextvars.ContextVar[_Scope]("tf_arg_scope", default={})  # noqa: B039 (never changed)
_TAKING: set[Callable[..., Any]] = set()


def add_arg_scope(func: _Function) -> _Function:
    """Lets `arg_scope` give arguments to a function; a decorator.

    Source: `tf.contrib.framework.add_arg_scope`.
    """

    @functools.wraps(func)
    def taking(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **{**_SCOPE.get().get(taking, {}), **kwargs})

    _TAKING.add(taking)
    return taking  # pyright: ignore[reportReturnType]


@contextlib.contextmanager
def arg_scope(
    list_ops_or_scope: Sequence[Callable[..., Any]] | _Scope, **kwargs: Any
) -> Generator[_Scope]:
    """Gives functions arguments in a block, beside those that blocks around give.

    Args:
        list_ops_or_scope: functions that take them; or what another `arg_scope` yielded, to be in it again.
        **kwargs: the arguments.

    Yields:
        The scope.

    Raises:
        ValueError: a function takes none, or a scope and arguments are both given.

    Source: `tf.contrib.framework.arg_scope`.
    """
    if isinstance(list_ops_or_scope, Mapping):
        if kwargs:
            raise ValueError(
                "When attempting to re-use a scope by suppling a dictionary, kwargs must be empty."
            )
        found = dict(list_ops_or_scope)
    else:
        found = dict(_SCOPE.get())
        for one in list_ops_or_scope:
            if one not in _TAKING:
                raise ValueError(
                    f"{one} is not decorated with @add_arg_scope. Write @tf.contrib.framework.add_arg_scope above its def."
                )
            found[one] = {**found.get(one, {}), **kwargs}
    with assigned(_SCOPE, found):
        yield found
