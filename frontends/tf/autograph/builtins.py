"""Python's own functions, where they get values that are traced."""

from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf.autograph.rows import Rows
from frontends.tf.autograph.symbols import is_traced, value_of
from frontends.tf.ops.control_flow import executing_eagerly
from frontends.tf.ops.traced_range import TracedRange


def _range(*args: Any) -> Any:
    values = [value_of(arg) for arg in args]
    if not any(map(is_traced, values)):
        return range(*args)
    start, limit, *step = (0, *values) if len(values) == 1 else values
    return TracedRange(start, limit, step[0] if step else 1)


def _int(*args: Any, **kwargs: Any) -> Any:
    value: Any = value_of(args[0]) if args else None
    return value.astype(jnp.int32) if is_traced(value) else int(*args, **kwargs)


def _float(*args: Any) -> Any:
    value: Any = value_of(args[0]) if args else None
    return value.astype(jnp.float32) if is_traced(value) else float(*args)


def _enumerate(iterable: Iterable[Any], start: int = 0) -> Any:
    rows = value_of(iterable)
    if isinstance(rows, jax.Array) and rows.ndim and not executing_eagerly():
        return Rows((jnp.arange(len(rows), dtype=jnp.int32) + start, rows))
    return enumerate(iterable, start)


def _zip(*iterables: Any, **kwargs: Any) -> Any:
    rows = [value_of(each) for each in iterables]
    if rows and not executing_eagerly() and all(isinstance(r, jax.Array) and r.ndim for r in rows):
        lengths = list(map(len, rows))
        if kwargs.get("strict") and len(set(lengths)) > 1:
            raise ValueError(
                f"zip(strict=True) got arrays with {', '.join(map(str, lengths))} rows. Give arrays with equally many."
            )
        return Rows(tuple(each[: min(lengths)] for each in rows))
    return zip(*iterables, **kwargs)  # noqa: B905  (kwargs may say)


OVERLOADS: dict[Callable[..., Any], Callable[..., Any]] = {
    range: _range,
    int: _int,
    float: _float,
    enumerate: _enumerate,
    zip: _zip,
}


def list_append(target: Any, value: Any) -> Any:
    """Appends to a list, or whatever else has the method, and returns it."""
    target.append(value)
    return target
