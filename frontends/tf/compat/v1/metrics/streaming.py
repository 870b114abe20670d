"""How a metric keeps sums in variables of a model function, and follows from them."""

import contextlib
import dataclasses
from collections.abc import Callable, Generator, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf.aggregation import VariableAggregation, VariableSynchronization, reduced
from frontends.tf.compat.v1.collections import GraphKeys, add_to_collections
from frontends.tf.graph import Graph, current_graph
from frontends.tf.ops.name_scope import in_name_scope, name_scope
from frontends.tf.variable import Variable, new_variable
from spmd.replica import current_frame, has_rows, in_replica

Metric = tuple[Any, Any]


@dataclasses.dataclass(frozen=True)
class Collections:
    """Where a metric is collected.

    Attributes:
        metrics: names of collections for the value, or None.
        updates: likewise, for the update.
    """

    metrics: Any = None
    updates: Any = None


def streamed(
    name: str,
    sums: Mapping[str, jax.Array],
    compute: Callable[..., jax.Array],
    collections: Collections,
    compute_update: Callable[..., jax.Array] | None = None,
) -> Metric:
    """Adds up sums over batches, and computes a metric of them.

    Args:
        name: of the scope of the variables; made unique.
        sums: what this batch adds, by the names of the variables below the scope.
        compute: makes the metric of the sums, in their order.
        collections: where it is collected.
        compute_update: makes of the sums what the update returns; None is `compute`.

    Returns:
        The value and the update; see the package.
    """
    of_update = compute_update or compute
    graph, has_batch = current_graph(), received_rows()
    if has_batch is not None:
        sums = {key: jnp.where(has_batch, added, 0) for key, added in sums.items()}
    if graph is None:
        total = (reduced(one, _SUM) if in_replica() else one for one in sums.values())
        return compute(*total), of_update(*sums.values())
    with _scope(graph, name) as scope:
        variables = [_variable(graph, one, jnp.shape(added)) for one, added in sums.items()]
    held = [variable.value() for variable in variables]
    value = graph.with_value(
        compute(*map(_of_all_replicas, variables, held)),
        lambda: compute(*(variable.value() for variable in variables)),
    )

    def add() -> None:
        for variable, added in zip(variables, sums.values(), strict=True):
            variable.assign_add(added)

    update = graph.with_effect(
        of_update(*(old + added for old, added in zip(held, sums.values(), strict=True))),
        graph.operation(f"{scope}update_op", add),
    )
    add_to_collections(collections.metrics, value)
    add_to_collections(collections.updates, update)
    return value, update


_SUM = VariableAggregation.SUM


@contextlib.contextmanager
def _scope(graph: Graph, name: str) -> Generator[str]:
    with name_scope(f"{graph.unique_name(in_name_scope(name))}/") as scope:
        yield scope


def _variable(graph: Graph, name: str, shape: tuple[int, ...]) -> Variable:
    """Returns the variable of a sum, as `tf.get_local_variable` does; other than there, name scopes alone name it."""
    full, variables = in_name_scope(name), graph.store.variables
    if full not in variables:
        with name_scope(""):  # the name is whole
            variables[full] = new_variable(
                lambda: jnp.zeros(shape, jnp.float32),
                trainable=False,
                name=full,
                synchronization=VariableSynchronization.ON_READ,
                aggregation=_SUM,
            )
    graph.used.add(full)
    graph.store.local.add(full)
    add_to_collections([GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES], variables[full])
    return variables[full]


def _of_all_replicas(variable: Variable, held: jax.Array) -> jax.Array:
    return reduced(held, _SUM) if variable.kind == "local" and in_replica() else held


def received_rows() -> jax.Array | None:
    """Tells in a replica whether it got rows: one of several may have none of the last batch. None where there is no other."""
    frame = current_frame()
    if frame is None or not frame.masks or frame.layout.replicas == 1:
        return None
    return has_rows(frame.masks)
