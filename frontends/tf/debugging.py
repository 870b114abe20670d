"""`tf.debugging`: checks of numbers.

They raise ValueError, which is what `tf.errors.InvalidArgumentError` is here. Numbers that do not
depend on a program's arguments are checked while it is traced. Others are checked when the program runs: it
runs to its end, and the call of the `tf.function` or of `strategy.run` raises. In a program that JAX alone made
(`jax.jit`) nobody would raise: there a check warns that it is left out.
"""

import operator
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import TensorLike
from frontends.tf.ops import checks, debug_settings
from frontends.tf.ops.convert import computed_now, convert_to_tensor, named
from frontends.tf.ops.host_calls import tell_host
from spmd.replica import current_frame


def Assert(
    condition: TensorLike,
    data: Sequence[TensorLike],
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raises ValueError that shows `data`, unless the condition holds.

    Args:
        condition: a truth value.
        data: what the message shows.

    Raises:
        ValueError: the condition does not hold.

    Source: `tf.debugging.Assert`.
    """

    def text(*values: Any) -> str:
        shown = " ".join(map(str, values))
        return f"Expected 'False' to be true. Summarized data: {shown}"

    with computed_now(condition):
        holds = convert_to_tensor(condition)
    _require("Assert", holds, text, [_plain(one) for one in data])


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
        _check(check, holds, x, y, message)

    return named(check, f"Raises ValueError unless {expected}.", compare)


assert_equal = _comparison("assert_equal", operator.eq, "`x` equals `y` everywhere")
assert_none_equal = _comparison("assert_none_equal", operator.ne, "`x` equals `y` nowhere")
assert_less = _comparison("assert_less", operator.lt, "`x` is less than `y` everywhere")
assert_less_equal = _comparison("assert_less_equal", operator.le, "`x` is at most `y` everywhere")
assert_greater = _comparison("assert_greater", operator.gt, "`x` is greater than `y` everywhere")
assert_greater_equal = _comparison(
    "assert_greater_equal", operator.ge, "`x` is at least `y` everywhere"
)


def _with_zero(name: str, holds: Callable[[Any, Any], Any], expected: str) -> Callable[..., None]:
    """Makes a check that compares an array with zero, entry by entry."""
    check = name

    def compare(
        x: TensorLike,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
    ) -> None:
        _check(check, lambda x, _: holds(x, 0), x, x, message)

    return named(check, f"Raises ValueError unless `x` is {expected} everywhere.", compare)


assert_positive = _with_zero("assert_positive", operator.gt, "greater than 0")
assert_negative = _with_zero("assert_negative", operator.lt, "less than 0")
assert_non_negative = _with_zero("assert_non_negative", operator.ge, "at least 0")
assert_non_positive = _with_zero("assert_non_positive", operator.le, "at most 0")


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


def assert_all_finite(x: TensorLike, message: str, name: str | None = None) -> Any:
    """Returns the array, or raises ValueError if an entry is NaN or infinite."""
    return check_numerics(x, message)


def _prefix(message: str | None) -> str:
    return f"{message}: " if message else ""


def _check(
    name: str, holds: Callable[[Any, Any], Any], x: TensorLike, y: TensorLike, message: str | None
) -> None:
    with computed_now((x, y)):
        first, second = convert_to_tensor(x), convert_to_tensor(y)
        same = first is second or x is y

    def text(first: Any, second: Any = None) -> str:
        values = f"{first}" if same else f"{first} and {second}"
        return f"{_prefix(message)}tf.debugging.{name} failed for {values}"

    values = [first] if same else [first, second]
    if any(isinstance(value, Tracer) for value in values):
        _require(name, holds(first, second), text, values)
        return
    with jax.ensure_compile_time_eval():
        _require(name, np.all(holds(first, second)), text, values)


def _require(name: str, holds: Any, text: Callable[..., str], values: Sequence[Any]) -> None:
    """Raises ValueError with a text about values unless something holds, now or when the program runs."""
    shown = [one for one in (holds, *values) if isinstance(one, Tracer)]
    if not isinstance(holds, Tracer):
        if not np.all(holds):
            raise ValueError(text(*values))
        return
    if current_frame() is None:
        warnings.warn(
            f"tf.debugging.{name} is left out of the program that is being traced. Call it outside "
            'of tf.function, or find NaN with jax.config.update("jax_debug_nans", True).',
            RuntimeWarning,
            stacklevel=4,
        )
        return

    def verify(holds: np.ndarray, *arrays: np.ndarray) -> None:
        if not holds:
            rest = iter(arrays)
            raise ValueError(
                text(*(next(rest) if isinstance(one, Tracer) else one for one in values))
            )

    tell_host(verify, jnp.all(holds), *shown[1:])


def _plain(value: Any) -> Any:
    """Makes an array of a variable; leaves the rest."""
    return convert_to_tensor(value) if hasattr(value, "__jax_array__") else value


# Checks of shapes and dtypes, and settings, are in files of their own.
_OTHERS = {**defined_in(checks.__name__), **defined_in(debug_settings.__name__)}

__getattr__, __dir__ = attributes("tf.debugging", {**defined_in(__name__), **_OTHERS})
