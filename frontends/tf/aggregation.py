"""How and when the values that replicas write to a variable are combined."""

import enum
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from frontends.tf._typing import TensorLike
from spmd.replica import (
    all_reduce,
)
from spmd.topology import REPLICA_AXIS

_Mode = TypeVar("_Mode", bound=enum.Enum)


class VariableSynchronization(enum.Enum):
    """When the values that replicas write to a variable are combined.

    Source: `tf.VariableSynchronization`.
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the values that replicas write to a variable are combined.

    Source: `tf.VariableAggregation`.
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


def member(modes: type[_Mode], mode: _Mode | str, name: str | None) -> _Mode:
    """Looks a mode up by itself or by its name.

    Raises:
        ValueError: there is no such mode.
    """
    if isinstance(mode, modes):
        return mode
    what = modes.__name__.removeprefix("Variable").lower()
    if isinstance(mode, str) and mode.upper() in modes.__members__:
        return modes.__members__[mode.upper()]
    raise ValueError(
        f"Invalid variable {what} mode: {mode} for variable: {name}. Expected one of "
        + ", ".join(f"tf.{modes.__name__}.{member}" for member in modes.__members__)
        + "."
    )


def first_only(value: TensorLike) -> jax.Array:
    """Takes the value of the first replica, in a replica."""
    first = jax.lax.axis_index(REPLICA_AXIS) == 0
    value = jnp.asarray(value)
    # A sum of booleans is a number.
    return all_reduce(jnp.where(first, value, jnp.zeros_like(value))).astype(value.dtype)


# What replicas assign, before it is.
REDUCED: dict[VariableAggregation, Callable[[Any], Any]] = {
    VariableAggregation.NONE: lambda value: value,
    VariableAggregation.SUM: lambda value: all_reduce(value, "sum"),
    VariableAggregation.MEAN: lambda value: all_reduce(value, "mean"),
    VariableAggregation.ONLY_FIRST_REPLICA: first_only,
}


# What the values of all replicas, stacked, are when read between them.
COMBINED: dict[VariableAggregation, Callable[[Any], Any]] = {
    VariableAggregation.SUM: lambda held: held.sum(0, dtype=held.dtype),
    VariableAggregation.MEAN: lambda held: held.mean(0, dtype=held.dtype),
    VariableAggregation.ONLY_FIRST_REPLICA: lambda held: held[0],
}


def combined_in_step(value: jax.Array, aggregation: VariableAggregation) -> jax.Array:
    """Combines the values of all replicas, between the replicas of a compiled step."""
    if aggregation is VariableAggregation.MEAN:
        return jax.lax.pmean(value, REPLICA_AXIS)
    if aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
        return jax.lax.all_gather(value, REPLICA_AXIS)[0]
    return jax.lax.psum(value, REPLICA_AXIS)
