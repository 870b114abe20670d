"""The strategy in force.

The *current strategy* is a context variable: `scope()` sets it for the block, on this thread and in
this asyncio task; other threads start with the default strategy. The *default strategy* is one replica
on the default device; `register_default` says who makes it, so that nothing here imports strategies.
"""

import contextlib
import contextvars
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from jax.sharding import Mesh

import frontends
from frontends.tf._typing import Nested
from frontends.tf.distribute.options import RunOptions
from frontends.tf.distribute.reduce_op import ReduceOp
from spmd.assigned import assigned
from spmd.replica import in_replica
from spmd.source_lines import add_library

add_library(frontends)


class StrategyLike(Protocol):
    """What code below strategies needs of one; every `tf.distribute.Strategy` has it."""

    is_default: bool
    has_components: bool
    combines_values: bool
    requires_aggregation: bool
    drops_last_step: bool

    @property
    def mesh(self) -> Mesh:
        """The devices along the axis `"replica"`."""
        ...

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas train together."""
        ...

    def run(
        self,
        fn: Callable[..., Nested],
        args: Sequence[Nested] = (),
        kwargs: Mapping[str, Nested] | None = None,
        options: RunOptions | None = None,
    ) -> Nested:
        """Runs a function on every replica."""
        ...

    def reduce(
        self, reduce_op: ReduceOp | str, value: Nested, axis: int | tuple[int, ...] | None
    ) -> Nested:
        """Combines per-replica values into one."""
        ...


class WrongMeshError(RuntimeError):
    """A strategy runs inside a compiled function that is being traced for other devices."""

    def __init__(self, traced: Mesh, mesh: Mesh) -> None:
        """Makes the error."""
        super().__init__(
            f"A tf.function runs strategies of different devices, {list(traced.devices.flat)} and "
            f"{list(mesh.devices.flat)}. A compiled function runs on one set of devices: make one "
            "tf.function for each strategy."
        )
        self.mesh = mesh


_S = TypeVar("_S", bound=StrategyLike)

_CURRENT: contextvars.ContextVar[StrategyLike | None] = contextvars.ContextVar(
    "tf_strategy", default=None
)
# How many scopes this code is inside of.
_SCOPES: contextvars.ContextVar[int] = contextvars.ContextVar("tf_scopes", default=0)
# Whether a merge function runs, which may do so where no strategy is in force.
_MERGING: contextvars.ContextVar[bool] = contextvars.ContextVar("tf_merging", default=False)

_default_makers: list[Callable[[], StrategyLike]] = []


def register_default(make: Callable[[], StrategyLike]) -> None:
    """Registers the function that returns the default strategy, the same one each time."""
    _default_makers[:] = [make]


def has_strategy() -> bool:
    """Tells whether a strategy other than the default is in force: in its scope, and in functions that it runs.

    Source: `tf.distribute.has_strategy`.
    """
    return _CURRENT.get() is not None


def get_strategy() -> StrategyLike:
    """Returns the strategy in force, the default one if there is none.

    Source: `tf.distribute.get_strategy`.
    """
    return _CURRENT.get() or default_strategy()


def default_strategy() -> StrategyLike:
    """Returns the default strategy, whichever is in force."""
    return _default_makers[0]()


def in_cross_replica_context() -> bool:
    """Tells whether this code sees all replicas: in a scope, but not in a function that `run` calls.

    Source: `tf.distribute.in_cross_replica_context`.
    """
    return (has_strategy() or _MERGING.get()) and not in_replica()


def experimental_set_strategy(strategy: StrategyLike | None) -> None:
    """Puts a strategy in force without a `with` block, for notebooks; None for the default.

    Raises:
        RuntimeError: called inside a scope or a replica, where it could not end.

    Source: `tf.distribute.experimental_set_strategy`.
    """
    if _SCOPES.get() or in_replica():
        raise RuntimeError(
            "experimental_set_strategy was called inside a strategy's scope or a replica. Call it at "
            "the top level of the program, before any `with strategy.scope():`."
        )
    _CURRENT.set(_unless_default(strategy))


def require_cross_replica(name: str) -> None:
    """Makes sure that a method of strategies is not called inside a replica.

    Raises:
        RuntimeError: it is.
    """
    if in_replica():
        raise RuntimeError(
            f"strategy.{name} was called inside a function that a strategy runs. Call it outside; "
            "inside use tf.distribute.get_replica_context(), whose merge_call(fn, args) steps out of it."
        )


@contextlib.contextmanager
def entered(strategy: _S) -> Generator[_S]:
    """Puts a strategy in force for a block, and yields it.

    Raises:
        RuntimeError: another strategy is in force.
    """
    current = _CURRENT.get()
    if current is not None and current is not strategy:
        raise RuntimeError(
            f"Cannot enter the scope of {strategy!r} inside the scope of {current!r}: a variable "
            "belongs to one strategy. Leave the outer scope first, or use one strategy for both."
        )
    tokens = _CURRENT.set(_unless_default(strategy)), _SCOPES.set(_SCOPES.get() + 1)
    try:
        yield strategy
    finally:
        _CURRENT.reset(tokens[0])
        _SCOPES.reset(tokens[1])


def in_force(strategy: StrategyLike) -> AbstractContextManager[StrategyLike | None]:
    """Puts a strategy in force for a block, whichever was in force before."""
    return assigned(_CURRENT, _unless_default(strategy))


def merging() -> AbstractContextManager[bool]:
    """Marks a block as a merge function's: cross-replica context, even with the default strategy."""
    return assigned(_MERGING, True)


def _unless_default(strategy: StrategyLike | None) -> StrategyLike | None:
    return None if strategy is None or strategy.is_default else strategy
