"""What Keras's loops call for a batch: a step of the engine on all replicas."""

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from spmd.cluster import SharedDraws
from spmd.input import BatchPlacer, PartsPlacer
from spmd.integrations.keras.losses import sharing, unshared
from spmd.integrations.keras.placement import Placement
from spmd.integrations.keras.replica_steps import call_step, is_overridden
from spmd.integrations.keras.typing import Batch, Logs, Model
from spmd.replica import PerReplica, TracedPerReplica, all_reduce, is_per_replica
from spmd.step import CrossReplicaStep, are_alike, for_each, gather
from spmd.topology import spans_processes
from spmd.typing import PyTree


class BatchFunction:
    """What Keras's loop calls with its state and an iterator: runs the next batches as steps."""

    def __init__(
        self,
        model: Model,
        placement: Placement,
        method: str,
        of_batch: Callable[[Batch], PyTree],
        of_results: Callable[[list[PyTree]], PyTree] | None = None,
    ) -> None:
        """Makes the function; compiles nothing yet.

        Args:
            model: the model.
            placement: where its batches run.
            method: the name of its step, for messages.
            of_batch: processes a batch, between the replicas.
            of_results: combines the results of several batches; None if that of the last is that of all.
        """
        of_batch.__name__ = f"{method} of {model.name}"
        # A model that only predicts need not be compiled.
        optimizer = getattr(model, "optimizer", None)
        state = [one for one in (model, optimizer, *model.metrics) if one is not None]
        state += placement.state
        self._mesh = placement.mesh
        self._takes_parts = is_overridden(model, method)
        self._of_results = of_results
        self._at_once = model.steps_per_execution
        # Where updates are sent after each batch, batches cannot be one program.
        self._as_one = placement.train is None
        self._step = CrossReplicaStep(of_batch, placement.mesh, state=state)
        # Replicas of several processes cannot take turns: there, each process runs the whole batch by itself.
        alone = model.run_eagerly and spans_processes(placement.mesh)
        self._alone = functools.partial(call_step, model, method) if alone else None
        self._of_batch = self._step.op_by_op if model.run_eagerly else self._step

        def of_batches(*batches: Batch) -> PyTree:
            return jax.tree.map(lambda results: results[-1], for_each(of_batch, batches))

        of_batches.__name__ = of_batch.__name__
        self._steps = CrossReplicaStep(of_batches, placement.mesh, state=state)
        self.start()

    def start(self) -> None:
        """Prepares for other data, whose first batch sets the number of rows of a full one."""
        # Of a step that Keras wrote, all arrays have the rows of one batch.
        self._placer = (
            PartsPlacer(self._mesh)
            if self._takes_parts
            else BatchPlacer(self._mesh, None, for_one_step=True)
        )
        self._draws = SharedDraws() if spans_processes(self._mesh) else None

    def __call__(self, state: PyTree, iterator: Iterator[Batch]) -> tuple[PyTree, PyTree]:
        """Runs the next batches, as one program if there are as many as `steps_per_execution`.

        Args:
            state: what `_get_jax_state` returned.
            iterator: over host batches.

        Returns:
            The result, and the state.

        Raises:
            StopIteration: there is no batch.
        """
        batches = list(itertools.islice(self._placed(iterator), self._at_once))
        if not batches:
            raise StopIteration
        several = self._of_results is None and self._as_one and self._of_batch is self._step
        if self._alone is not None:
            with unshared():
                results = list(map(self._alone, batches))
        elif several and len(batches) == self._at_once > 1 and are_alike(batches):
            results = [self._steps(*batches)]
        else:
            results = list(map(self._of_batch, batches))
        return results[-1] if self._of_results is None else self._of_results(results), state

    def _placed(self, iterator: Iterator[Batch]) -> Iterator[Batch]:
        for data in iterator if self._draws is None else self._draws.read(iterator):
            if self._alone is None and not _is_distributed(data):
                data = self._placer.place(data, x64=bool(jax.enable_x64.value))
            if data is not None:  # a batch without rows
                yield data


def _is_distributed(data: Batch) -> bool:
    return any(map(is_per_replica, jax.tree.leaves(data, is_leaf=is_per_replica)))


def logging_function(model: Model, placement: Placement, method: str) -> BatchFunction:
    """Makes the function of `fit` or `evaluate`, whose results are logs."""
    own = is_overridden(model, method)

    def of_rows(data: Batch) -> Logs:
        with sharing(model):
            logs = call_step(model, method, data)
        return _as_one(jax.tree.map(jnp.asarray, logs, is_leaf=is_per_replica)) if own else logs

    def of_batch(data: Batch) -> Logs:
        logs = placement.run(of_rows, data)
        if own:
            return jax.tree.map(_common, logs, is_leaf=is_per_replica)
        # Between the replicas, metrics already cover the global batch.
        return model.get_metrics_result()

    return BatchFunction(model, placement, method, of_batch)


def predicting_function(model: Model, placement: Placement, method: str) -> BatchFunction:
    """Makes the function of `predict`, whose results are rows."""

    def of_batch(data: Batch) -> PyTree:
        return placement.run(functools.partial(call_step, model, method), data)

    def of_results(results: list[PyTree]) -> PyTree:
        return jax.tree.map(lambda *values: _Rows(values), *results, is_leaf=is_per_replica)

    return BatchFunction(model, placement, method, of_batch, of_results)


def _common(log: PerReplica | TracedPerReplica) -> jax.Array:
    """Returns what all replicas have."""
    return log.block if isinstance(log, TracedPerReplica) else log.values[0]


class _Rows:
    """Predicted rows, which stay on the devices until they are read."""

    def __init__(self, values: Sequence[Any]) -> None:
        """Collects the results of several batches.

        Args:
            values: arrays or per-replica values, whose first axis counts rows.
        """
        self._values = values

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        parts = [np.asarray(part) for value in self._values for part in _blocks(value)]
        return np.asarray(np.concatenate(parts), dtype)


def _blocks(value: jax.Array | PerReplica) -> Sequence[Any]:
    if not isinstance(value, PerReplica):
        return [value]
    # Every process gets all rows, in their order.
    return [gather(value)] if spans_processes(value.mesh) else value.values


def _as_one(logs: Logs) -> Logs:
    """Sums the logs of a user's own step over replicas, as TensorFlow does.

    A log that is equal on all replicas, such as the result of a metric, stays as it is.
    """
    low, high, total = (all_reduce(logs, op) for op in ("min", "max", "sum"))
    return jax.tree.map(
        lambda low, high, total: jnp.where(low == high, low, total), low, high, total
    )
