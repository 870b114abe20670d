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


def assert_stmt(expression1: Any, expression2: Callable[[], Any]) -> None:
    """Checks `assert expression1, expression2`."""
    value = value_of(expression1)
    if is_traced(value):
        debugging.assert_equal(value, True, message=expression2())
    elif not value:
        raise AssertionError(expression2())
