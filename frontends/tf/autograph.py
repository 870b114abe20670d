"""`tf.autograph`: accepted, since Python code is traced as it is and never rewritten."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Does nothing."""
    del level, alsologtostdout


def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Returns the function, or a decorator that does."""
    return func if func is not None else lambda function: function


experimental = SimpleNamespace(do_not_convert=do_not_convert)
