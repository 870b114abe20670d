"""Replicas that run op by op take turns: one runs at a time, until it needs what the others have.

A compiled step is one program for all replicas, whose collectives travel over an axis of the mesh. Op by op, each
replica runs the step's Python code on values of its own. At a collective it hands in its value and waits; when all have
handed in theirs, each goes on with what all of them have.
"""

import abc
import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from spmd.typing import LibraryVariable


class Turns(abc.ABC):
    """What the code of a replica asks of those who take turns with it."""

    @property
    @abc.abstractmethod
    def index(self) -> int:
        """The replica whose turn it is."""

    @abc.abstractmethod
    def exchange(self, name: str, values: Sequence[jax.Array]) -> list[Sequence[jax.Array]]:
        """Waits until all replicas have handed in values at the same place.

        Args:
            name: what they do there, for messages.
            values: what this one has.

        Returns:
            What each replica has, in order.
        """

    @abc.abstractmethod
    def adopt(self, variable: LibraryVariable, leave: Callable[[], None]) -> None:
        """Gives every replica a copy of a variable that the step did not find, as it is now.

        Args:
            variable: any library's; nothing happens if the replicas have copies of it.
            leave: called when the step is over.
        """

    @abc.abstractmethod
    def while_running(
        self, make: Callable[[], contextlib.AbstractContextManager[Any]]
    ) -> contextlib.AbstractContextManager[None]:
        """Enters a context for this replica only: it is left while another one runs, and entered again.

        Args:
            make: makes the context, each time anew.
        """


def exchanged(turns: Turns, name: str, values: Sequence[jax.Array]) -> list[Sequence[jax.Array]]:
    """Exchanges values so that gradients flow back to the replicas that they came from.

    Args:
        turns: of the replicas.
        name: what they do, for messages.
        values: what this one has.

    Returns:
        What each replica has, in order. As with JAX's collectives, what all replicas make of a value counts in its
        gradient.
    """
    inexact = [i for i, one in enumerate(values) if jnp.issubdtype(one.dtype, jnp.inexact)]

    @jax.custom_vjp
    def exchange(*values: jax.Array) -> tuple[tuple[jax.Array, ...], ...]:
        return tuple(map(tuple, turns.exchange(name, values)))

    def forward(*values: jax.Array) -> tuple[Any, None]:
        return exchange(*values), None

    def backward(_: None, cotangents: Any) -> tuple[jax.Array | None, ...]:
        parts = [of_replica[i] for of_replica in cotangents for i in inexact]
        every = turns.exchange(f"the gradient of {name}", parts)
        first = turns.index * len(inexact)
        mine: dict[int, jax.Array] = {
            i: functools.reduce(jnp.add, [parts[first + at] for parts in every])
            for at, i in enumerate(inexact)
        }
        return tuple(map(mine.get, range(len(values))))

    exchange.defvjp(forward, backward)
    return list(exchange(*values))
