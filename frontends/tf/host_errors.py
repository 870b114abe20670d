"""Errors that the host finds while a program runs: a check that fails, a Python function that raises.

A callback of a program must not raise: the other replicas would wait for the one that stopped. So the error is
recorded, the program runs to its end, and the call of the `tf.function` or of `strategy.run` raises it then.
"""

import functools
import logging
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar, cast

import jax

from frontends.tf.traced_values import NEEDS_VALUE, not_allowed
from spmd._jax_internals import is_tracing
from spmd.replica import current_frame
from spmd.source_lines import shorten_traceback

_F = TypeVar("_F", bound=Callable[..., Any])


class _Traced(threading.local):
    """How often code that may find errors was traced on this thread."""

    count = 0


_TRACED = _Traced()
# Calls that will raise what is found; programs that run without one only log it.
_WAITING: list[object] = []
_FOUND: deque[BaseException] = deque()
# Callers whose programs may find errors.
_CALLERS: "weakref.WeakSet[Any]" = weakref.WeakSet()


def expect_errors() -> None:
    """Takes note that the program that is being traced may find errors: who calls it waits for it."""
    _TRACED.count += 1


def record_error(error: BaseException) -> None:
    """Keeps an error until the program's caller asks; the first one of a program counts.

    What Keras's `fit` runs has no caller here that asks: such an error is logged, and raised by the next one.
    """
    if not _WAITING:
        logging.getLogger("tensorflow").error("A program found an error: %s", error)
    _FOUND.append(error)


def raise_found() -> None:
    """Waits for the programs that run, and raises the first error that they found.

    Raises:
        BaseException: what a check or a function raised.
    """
    jax.effects_barrier()
    if _FOUND:
        error = _FOUND.popleft()
        _FOUND.clear()
        raise error


def raises_host_errors(method: _F) -> _F:
    """Makes a method that runs programs raise the errors that these find."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if current_frame() is not None:
            return method(self, *args, **kwargs)
        before = _TRACED.count
        _WAITING.append(self)
        try:
            result = method(self, *args, **kwargs)
            if _TRACED.count != before:
                _CALLERS.add(self)
            if self in _CALLERS:
                raise_found()
        except NEEDS_VALUE as error:
            if is_tracing():  # what is tracing may try another way
                raise
            raise not_allowed(error) from None
        except Exception as error:
            shorten_traceback(error)
            raise
        finally:
            _WAITING.pop()
        return result

    return cast(_F, call)
