"""Operators for `and`, `or`, `not` and `assert`."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from frontends.tf import debugging
from frontends.tf.autograph.symbols import is_traced, value_of


def and_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """Computes `a and b`; `b` too, if `a` is traced."""
    first = a()
    if not is_traced(value := value_of(first)):
        return first and b()
    return jnp.logical_and(value, value_of(b()))


def or_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """Computes `a or b`; `b` too, if `a` is traced."""
    first = a()
    if not is_traced(value := value_of(first)):
        return first or b()
    return jnp.logical_or(value, value_of(b()))


def not_(a: Any) -> Any:
    """Computes `not a`."""
    value = value_of(a)
    return jnp.logical_not(value) if is_traced(value) else not a


def assert_stmt(test: Any, message: Callable[[], Any], text: str) -> None:
    """Checks `assert test, message`.

    Args:
        test: what must be true.
        message: returns what to say otherwise; None says `text`, if the test is traced.
        text: the test as it is written.
    """
    value = value_of(test)
    if is_traced(value):
        said = message()
        debugging.Assert(value, [text if said is None else said])
    elif not value:
        said = message()
        raise AssertionError() if said is None else AssertionError(said)
