"""How and when the values that replicas write to a variable are combined."""

import enum
from typing import Literal, TypeVar

import jax

from spmd.replica import all_reduce, broadcast, combine, current_frame

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


# What the engine calls them; with NONE nothing is combined.
_OPS: dict[VariableAggregation, Literal["sum", "mean", "first"]] = {
    VariableAggregation.SUM: "sum",
    VariableAggregation.MEAN: "mean",
    VariableAggregation.ONLY_FIRST_REPLICA: "first",
}


def reduced(value: jax.Array, aggregation: VariableAggregation) -> jax.Array:
    """Combines what the replicas are about to assign, in a replica."""
    op = _OPS.get(aggregation)
    if op is None:
        return value
    return broadcast(value) if op == "first" else all_reduce(value, op)


def combined(held: jax.Array, aggregation: VariableAggregation) -> jax.Array:
    """Combines the values of all replicas, between them: traced ones in a step, stacked ones outside."""
    op = _OPS[aggregation]
    if current_frame() is not None:
        return combine(held, op)
    return held[0] if op == "first" else getattr(held, op)(0, dtype=held.dtype)
