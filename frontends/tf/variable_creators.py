"""`tf.variable_creator_scope`: functions of the script that make the variables of a block."""

import contextlib
import contextvars
import functools
import inspect
from collections.abc import Callable, Generator, Sequence
from typing import Any

from frontends.tf._typing import Nested
from spmd.assigned import assigned

_Creator = Callable[..., Any]
_CREATORS: contextvars.ContextVar[tuple[_Creator, ...]] = contextvars.ContextVar(
    "tf_variable_creators", default=()
)


@contextlib.contextmanager
def variable_creator_scope(variable_creator: _Creator) -> Generator[None]:
    """Has a function make each `tf.Variable` of a block.

    What differs here: variables of Keras are Keras's own, which the function does not make.

    Args:
        variable_creator: takes a function that makes the variable, `next_creator`, and as keywords what this takes.

    Examples:
        >>> from frontends import tf
        >>> def frozen(next_creator, **kwargs):
        ...     return next_creator(**kwargs | {"trainable": False})
        >>> with tf.variable_creator_scope(frozen):
        ...     tf.Variable(1.0).trainable
        False

    Source: `tf.variable_creator_scope`.
    """
    with assigned(_CREATORS, (*_CREATORS.get(), variable_creator)):
        yield


def created(
    cls: type, make: Callable[..., Any], args: Sequence[Nested], kwargs: dict[str, Any]
) -> Any:
    """Makes a variable, by the functions of the blocks around if there are some.

    Args:
        cls: its class.
        make: makes it.
        args: the arguments of the class.
        kwargs: those that are named.
    """
    creators = _CREATORS.get()
    if not creators:
        return make(*args, **kwargs)
    maker: Any = cls.__init__  # the signature of the class is that of its metaclass
    bound = inspect.signature(maker).bind(None, *args, **kwargs)
    bound.apply_defaults()
    del bound.arguments["self"]
    for creator in creators:
        make = functools.partial(creator, make)
    return make(**bound.arguments)
