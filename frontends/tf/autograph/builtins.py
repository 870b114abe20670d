"""Python's own functions, where they get values that are traced."""

import functools
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
    if not _are_rows(rows):
        return enumerate(iterable, start)
    numbers = jnp.arange(len(rows), dtype=jnp.int32) + start
    return Rows((numbers, rows.arrays if isinstance(rows, Rows) else rows))


def _zip(*iterables: Any, **kwargs: Any) -> Any:
    rows = [value_of(each) for each in iterables]
    if not rows or not all(map(_are_rows, rows)):
        return zip(*iterables, **kwargs)  # noqa: B905  (kwargs may say)
    lengths = list(map(len, rows))
    if kwargs.get("strict") and len(set(lengths)) > 1:
        raise ValueError(
            f"zip(strict=True) got arrays with {', '.join(map(str, lengths))} rows. Give arrays with equally many."
        )
    return Rows(tuple(each[: min(lengths)] for each in rows))


def _are_rows(value: Any) -> bool:
    """Tells whether a loop of the program can go over a value."""
    return isinstance(value, Rows) or (
        isinstance(value, jax.Array) and value.ndim > 0 and not executing_eagerly()
    )


def _extreme(python: Callable[..., Any], choose: Callable[..., Any]) -> Callable[..., Any]:
    """Makes `max` or `min`, which also choose between traced numbers.

    Args:
        python: Python's own.
        choose: chooses elementwise between two.
    """

    def extreme(*args: Any, **kwargs: Any) -> Any:
        items = list(args[0]) if len(args) == 1 else args
        values = list(map(value_of, items))
        if kwargs or not any(map(is_traced, values)):
            return python(items, **kwargs)
        return functools.reduce(choose, values)

    return extreme


def _truth_of(combine: Callable[..., Any], *, decides: bool) -> Callable[..., Any]:
    """Makes `any` or `all`, which also ask traced values.

    Args:
        combine: combines two truths.
        decides: the truth of one element that is that of all of them.
    """

    def truth(iterable: Iterable[Any]) -> Any:
        rest = map(value_of, iterable)
        for value in rest:  # an iterator may have no end
            if is_traced(value):
                truths = [jnp.asarray(each).astype(bool) for each in (value, *rest)]
                return functools.reduce(combine, truths)
            if bool(value) is decides:
                return decides
        return not decides

    return truth


OVERLOADS: dict[Callable[..., Any], Callable[..., Any]] = {
    range: _range,
    int: _int,
    float: _float,
    enumerate: _enumerate,
    zip: _zip,
    max: _extreme(max, jnp.maximum),
    min: _extreme(min, jnp.minimum),
    any: _truth_of(jnp.logical_or, decides=True),
    all: _truth_of(jnp.logical_and, decides=False),
}


def list_append(target: Any, value: Any) -> Any:
    """Appends to a list, or whatever else has the method, and returns it."""
    target.append(value)
    return target
