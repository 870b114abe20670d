"""`tf.debugging`: checks of numbers.

They raise ValueError, which is what `tf.errors.InvalidArgumentError` is here. While a program is traced
there are no numbers yet: a check then warns that it is left out.
"""

import operator
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import TensorLike
from frontends.tf.ops.convert import computed_now, convert_to_tensor, named


def _comparison(name: str, holds: Callable[[Any, Any], Any], expected: str) -> Callable[..., None]:
    """Makes a check that compares two arrays, entry by entry."""
    check = name

    def compare(
        x: TensorLike,
        y: TensorLike,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
    ) -> None:
        del summarize
        _check(check, holds, x, y, message)

    return named(check, f"Raises ValueError unless {expected}.", compare)


assert_equal = _comparison("assert_equal", operator.eq, "`x` equals `y` everywhere")
assert_less = _comparison("assert_less", operator.lt, "`x` is less than `y` everywhere")
assert_greater = _comparison("assert_greater", operator.gt, "`x` is greater than `y` everywhere")


def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: float | None = None,
    atol: float | None = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raises ValueError unless `|x - y| <= atol + rtol * |y|`; both are 10 epsilons by default."""
    del summarize

    def near(x: TensorLike, y: TensorLike) -> Any:
        epsilon = 10 * float(jnp.finfo(x.dtype).eps)
        bound = (epsilon if atol is None else atol) + (epsilon if rtol is None else rtol) * abs(y)
        return abs(x - y) <= bound

    _check("assert_near", near, x, y, message)


def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Any:
    """Returns the array, or raises ValueError if an entry is NaN or infinite."""
    x = convert_to_tensor(tensor)
    _check("check_numerics", lambda x, _: jnp.isfinite(x), x, x, message)
    return x


def _check(
    name: str, holds: Callable[[Any, Any], Any], x: TensorLike, y: TensorLike, message: str | None
) -> None:
    with computed_now((x, y)):
        first, second = convert_to_tensor(x), convert_to_tensor(y)
    if isinstance(first, Tracer) or isinstance(second, Tracer):
        warnings.warn(
            f"tf.debugging.{name} is left out of the program that is being traced. Call it outside "
            'of tf.function, or find NaN with jax.config.update("jax_debug_nans", True).',
            RuntimeWarning,
            stacklevel=3,
        )
        return
    with jax.ensure_compile_time_eval():
        if not np.all(holds(first, second)):
            prefix = f"{message}: " if message else ""
            values = f"{first}" if first is second else f"{first} and {second}"
            raise ValueError(f"{prefix}tf.debugging.{name} failed for {values}")


__getattr__, __dir__ = attributes("tf.debugging", defined_in(__name__))
