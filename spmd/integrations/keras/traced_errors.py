"""Errors of JAX about traced values, which reach the user from a layer of Keras as they are."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import jax

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Call = Callable[_P, _R]


def keep_errors(
    inject: Callable[[_Call[_P, _R], str | None], _Call[_P, _R]],
    /,
    fn: _Call[_P, _R],
    object_name: str | None = None,
) -> _Call[_P, _R]:
    """Wraps `inject_argument_info_in_traceback`, which makes of an error another one of its class with more text.

    JAX makes these errors of a traced value, not of a text, so that failed: `'str' object has no attribute '_error_repr'`.
    """

    @functools.wraps(fn)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return fn(*args, **kwargs)
        except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as error:
            vars(error)["_keras_call_info_injected"] = True  # Keras passes on what has this
            raise

    return inject(call, object_name)
