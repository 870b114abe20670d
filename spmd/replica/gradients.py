"""The one place where gradients travel between replicas: an Optax transformation."""

import contextlib
from collections.abc import Callable, Generator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

import jax
import jax.numpy as jnp

from spmd._jax_internals import trace_state
from spmd.assigned import assigned
from spmd.replica.collectives import all_gather
from spmd.replica.context import Frame, current_frame, has_rows
from spmd.replica.gradient_buckets import sum_in_buckets
from spmd.typing import PyTree

_Tree = TypeVar("_Tree")

if TYPE_CHECKING:
    import optax


def sum_over_replicas(*gradients: PyTree) -> "optax.GradientTransformation":
    """Sums gradients over replicas, as a link of an Optax chain.

    Gradients that a step computes are the replica's own: of its rows alone. Put this in front of the
    optimizer in a hand-written Optax loop. An `nnx.Optimizer` needs no such link: the engine sums in
    front of its `tx` by itself, unless the chain holds this link already. Outside of a step there is
    one replica, and the gradients pass through unchanged.

    With the loss divided by the global batch, the sum is the gradient of the mean over the global
    batch, for any number of replicas.

    Args:
        *gradients: nothing; there to tell a person who passes some what to write instead.

    Returns:
        A stateless gradient transformation.

    Raises:
        TypeError: gradients are passed.

    Examples:
        >>> import jax.numpy as jnp, optax, spmd
        >>> tx = optax.chain(spmd.sum_over_replicas(), optax.sgd(0.5))
        >>> updates, _ = tx.update(jnp.array(2.0), tx.init(jnp.array(1.0)))
        >>> float(updates)
        -1.0

    Source: the aggregation that `tf.keras.optimizers.Optimizer.apply_gradients` does under a
    `tf.distribute.Strategy`.
    """
    import optax

    if gradients:
        raise TypeError(
            "sum_over_replicas takes no gradients: it is a link of an Optax chain, "
            "optax.chain(spmd.sum_over_replicas(), optax.adam(1e-3)). To sum values yourself write "
            "spmd.all_reduce(gradients)."
        )

    def update(updates: PyTree, state: PyTree, params: PyTree = None) -> tuple[Any, Any]:
        del params
        return sum_gradients(updates), state

    return optax.GradientTransformation(lambda params: optax.EmptyState(), update)


def sum_gradients(gradients: _Tree) -> _Tree:
    """Sums a pytree of gradients over replicas inside a step; outside it returns them unchanged."""
    frame = current_frame()
    if frame is None or frame.masks is None:
        return gradients
    frame.sums += 1
    if _ASKED.get():
        return gradients
    summed = sum_in_buckets(_of_rows_that_are_there(gradients, frame))
    collecting = _COLLECTED.get()
    # Under an inner transformation (a branch, a trial run) they would not live outside of it.
    if collecting is not None and collecting[0] == trace_state():
        collecting[1].append(summed)
    return summed


def gather_gradients(values: jax.Array, indices: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Brings together gradients of rows that replicas looked up, inside a step; outside it returns them unchanged.

    Args:
        values: gradients of rows, of shape `(n, ...)`.
        indices: numbers of these rows, of shape `(n,)`.

    Returns:
        Those of all replicas. A row that several have looked up comes as often: its values add up.
    """
    frame = current_frame()
    if frame is None or frame.masks is None:
        return values, indices
    return all_gather((_of_rows_that_are_there(values, frame), indices))


def _of_rows_that_are_there(gradients: _Tree, frame: Frame) -> _Tree:
    """Makes zeros of what is not finite because a replica has no rows."""
    rows = has_rows(frame.masks) if frame.masks is not None and frame.has_statistics else None
    if rows is None:
        return gradients
    # Of a replica without rows, a statistic over its rows is NaN, and so is all that flows back
    # through it. What does not depend on rows (a penalty on the weights) is kept.
    return jax.tree.map(
        lambda g: jnp.where(rows | jnp.isfinite(g), g, jnp.zeros_like(g)), gradients
    )


# Whether somebody only wants to know if this code sums gradients: op by op, it could not while JAX traces it.
_ASKED: ContextVar[bool] = ContextVar("spmd_asked", default=False)

# The state of tracing in which sums are collected, and the sums.
_COLLECTED: ContextVar[tuple[Any, list[Any]] | None] = ContextVar("spmd_collected", default=None)


@contextlib.contextmanager
def collected() -> Generator[list[Any]]:
    """Collects, in the list that it yields, the pytrees that code in a replica sums over replicas."""
    sums: list[Any] = []
    with assigned(_COLLECTED, (trace_state(), sums)):
        yield sums


def sums_by_itself(update: Callable[[], Any]) -> bool:
    """Tells whether an optimizer's update sums over replicas by itself.

    Optax hides the links of a chain, and may make them only when they run. So the update is traced once
    to see whether `sum_over_replicas` takes part, and the trace is dropped.
    """
    frame = current_frame()
    if frame is None or not frame.in_replica:
        return False
    before, frame.sums = frame.sums, 0
    try:
        with assigned(_ASKED, frame.turns is not None):
            jax.eval_shape(update)
        return frame.sums > 0
    finally:
        frame.sums = before
