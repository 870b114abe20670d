"""Positions of iterators, so that training resumes with the batch that would have come next."""

import json
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from spmd.checkpoint.errors import CheckpointError

# What JSON can hold (numbers, strings, lists, dicts), or bytes.
Position: TypeAlias = Any


@runtime_checkable
class HasPosition(Protocol):
    """An iterator whose position a checkpoint keeps.

    Grain's iterators have these two methods. In a cluster every process keeps the position of its own
    iterator.

    Examples:
        >>> from spmd.checkpoint import HasPosition
        >>> class Countdown:
        ...     def __init__(self, start):
        ...         self.left = start
        ...
        ...     def get_state(self):
        ...         return {"left": self.left}
        ...
        ...     def set_state(self, state):
        ...         self.left = state["left"]
        >>> isinstance(Countdown(3), HasPosition)
        True

    Source: `grain.DatasetIterator`.
    """

    def get_state(self) -> Position:
        """Returns the position: what JSON can hold (numbers, strings, lists, dicts), or bytes."""
        ...

    def set_state(self, state: Position) -> None:
        """Moves to a position that `get_state` returned."""
        ...


def encode_position(position: Position, path: str) -> dict[str, Any]:
    """Encodes a position as JSON.

    Args:
        position: what `get_state` returned.
        path: of the iterator, for the error.

    Raises:
        CheckpointError: JSON cannot hold it.
    """
    if isinstance(position, bytes):
        return {"bytes": position.hex()}
    try:
        return {"json": json.loads(json.dumps(position, default=_plain_number))}
    except (TypeError, ValueError) as error:
        raise CheckpointError(
            f"The position of {path} cannot be saved: {error}. Let its get_state() return numbers, strings, "
            "lists and dicts of these, or bytes."
        ) from error


def decode_position(encoded: Mapping[str, Any]) -> Position:
    """Decodes what `encode_position` returned."""
    return bytes.fromhex(encoded["bytes"]) if "bytes" in encoded else encoded["json"]


def _plain_number(value: object) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"it holds a {type(value).__name__}")
