"""How and when the values that replicas write to a variable are combined."""

import enum
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import jax

from spmd.replica import all_reduce, broadcast, combine

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


# What replicas assign, before it is.
REDUCED: dict[VariableAggregation, Callable[[Any], Any]] = {
    VariableAggregation.NONE: lambda value: value,
    VariableAggregation.SUM: lambda value: all_reduce(value, "sum"),
    VariableAggregation.MEAN: lambda value: all_reduce(value, "mean"),
    VariableAggregation.ONLY_FIRST_REPLICA: broadcast,
}


# What the values of all replicas, stacked, are when read between them.
COMBINED: dict[VariableAggregation, Callable[[Any], Any]] = {
    VariableAggregation.SUM: lambda held: held.sum(0, dtype=held.dtype),
    VariableAggregation.MEAN: lambda held: held.mean(0, dtype=held.dtype),
    VariableAggregation.ONLY_FIRST_REPLICA: lambda held: held[0],
}


# The same, inside of a compiled step.
_IN_STEP: dict[VariableAggregation, Literal["mean", "first"]] = {
    VariableAggregation.MEAN: "mean",
    VariableAggregation.ONLY_FIRST_REPLICA: "first",
}


def combined_in_step(value: jax.Array, aggregation: VariableAggregation) -> jax.Array:
    """Combines the values of all replicas, between the replicas of a compiled step."""
    return combine(value, _IN_STEP.get(aggregation, "sum"))
