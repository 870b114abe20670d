"""Several batches in one program: XLA loops over them, and the function is traced once."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh

from spmd.errors import Remedy, ReplicaContextError, StepOutputError
from spmd.replica import PerReplica, current_frame, is_per_replica
from spmd.step.control_flow import scan
from spmd.step.op_by_op import current_step
from spmd.step.state_views import with_blocks
from spmd.step.step import CrossReplicaStep


def for_each(function: Callable[[Any], Any], batches: Sequence[Any]) -> Any:
    """Calls a function for each of several batches, inside a step that spans several runs.

    The function is traced once, and the loop takes the state from one batch to the next, so that the
    program is hardly larger than for one batch, and the host is asked once for all of them.

    Args:
        function: what is done with a batch, between the replicas.
        batches: of one structure, and with the same shapes.

    Returns:
        What the function gave for each batch: its result, with one axis more in front of every leaf.

    Raises:
        ReplicaContextError: no such step is being traced.
        StepOutputError: the function returned values of single replicas.
        ControlFlowError: the function changes the shape or type of a variable.

    Examples:
        >>> import numpy as np, spmd
        >>> total = spmd.Variable(np.float32(0), name="total")
        >>> def add(batch):
        ...     rows = spmd.run(lambda x: x.sum(), batch)
        ...     total.value = total.value + spmd.reduce(rows)
        ...     return total.value
        >>> mesh = spmd.make_mesh(["cpu:0"])
        >>> step = spmd.step.CrossReplicaStep(lambda *batches: for_each(add, batches), mesh)
        >>> rows = np.arange(6, dtype=np.float32)
        >>> step(*spmd.distribute(rows, mesh, batch_size=2)).tolist()
        [1.0, 6.0, 15.0]

    Source: `steps_per_execution` of `tf.keras.Model.compile`.
    """
    frame = current_frame()
    if frame is None and current_step() is not None:
        return jax.tree.map(lambda *each: jnp.stack(each), *map(function, batches))
    if frame is None or frame.in_replica:
        raise ReplicaContextError(
            "for_each works between the replicas, in a step made with spmd.step.CrossReplicaStep."
        )
    stacked = StackedBatches(batches)

    def one(_: None, row: Any) -> tuple[None, None, Any]:
        result = function(stacked.batch(row))
        if any(map(is_per_replica, jax.tree.leaves(result, is_leaf=is_per_replica))):
            raise StepOutputError(
                "A function that several batches go through in one program returned values of single "
                "replicas. Return one value for all of them: "
                f"{Remedy.REDUCE.spelled(value='losses')}."
            )
        return None, None, result

    return scan(one, None, stacked.rows)[2]


class StackedBatches:
    """Batches that a step was given, stacked, so that a loop of its program can go over them.

    Attributes:
        rows: pytree of arrays with as many rows as there are batches; `spmd.step.scan` goes over it.
    """

    def __init__(self, batches: Sequence[Any]) -> None:
        """Stacks batches, inside the step.

        Args:
            batches: of one structure, and with the same shapes.
        """
        flat = [jax.tree.flatten(batch, is_leaf=is_per_replica) for batch in batches]
        self._leaves, self._structure = flat[0]
        owners = {id(leaf.mask): index for index, leaf in enumerate(self._leaves)}
        self._owners = tuple(owners)
        blocks = [
            jnp.stack([batch[i].block for batch, _ in flat]) for i in range(len(self._leaves))
        ]
        masks = [jnp.stack([batch[i].mask for batch, _ in flat]) for i in owners.values()]
        self.rows: Any = blocks, masks

    def batch(self, row: Any) -> Any:
        """Makes a batch of a row of `rows`, inside the loop."""
        blocks, masks = row
        batch = with_blocks(self._leaves, blocks, dict(zip(self._owners, masks, strict=True)))
        return jax.tree.unflatten(self._structure, batch)


class Repetition:
    """A step between the replicas that takes several batches in one dispatch.

    Examples:
        >>> import numpy as np, spmd
        >>> total = spmd.Variable(np.float32(0), name="total")
        >>> def add(batch):
        ...     total.value = total.value + spmd.reduce(spmd.run(lambda x: x.sum(), batch))
        ...     return total.value
        >>> mesh = spmd.make_mesh(["cpu:0"])
        >>> repeated = Repetition(add, mesh)
        >>> batches = iter(spmd.distribute(np.arange(6, dtype=np.float32), mesh, batch_size=2))
        >>> repeated(batches, 2).tolist(), repeated(batches, 2).tolist()
        ([1.0, 6.0], [15.0])
    """

    def __init__(
        self, function: Callable[[Any], Any], mesh: Mesh, state: Sequence[Any] = ()
    ) -> None:
        """Makes it; nothing is traced or compiled yet.

        Args:
            function: what is done with a batch, between the replicas.
            mesh: where it runs.
            state: more objects with state that the function may reach.
        """

        def several(*batches: Any) -> Any:
            return for_each(function, batches)

        several.__name__ = getattr(function, "__name__", several.__name__)
        self._one = CrossReplicaStep(function, mesh, state=state)
        self._several = CrossReplicaStep(several, mesh, state=state)

    def __call__(self, batches: Iterator[Any], steps: int) -> Any:
        """Runs the next batches.

        Args:
            batches: where they come from.
            steps: how many; at the end there may be fewer, which are run one by one, as is what comes with a
                partial batch.

        Returns:
            The results, with one axis more in front of every leaf.

        Raises:
            StopIteration: there is no batch.
        """
        taken = list(itertools.islice(batches, steps))
        if not taken:
            raise StopIteration
        # A step that does not leave out padding gets a program of its own for a partial batch.
        is_padded = any(leaf.mask is not None and leaf.mask.padded for leaf in _leaves(taken))
        if len(taken) == steps and are_alike(taken) and not is_padded:
            return self._several(*taken)
        return jax.tree.map(lambda *each: jnp.stack(each), *map(self._one, taken))


def are_alike(batches: Sequence[Any]) -> bool:
    """Tells whether one program fits several batches.

    Args:
        batches: pytrees of `PerReplica`.
    """
    kinds = [[leaf.key for leaf in _leaves(batch)] for batch in batches]
    return all(kind == kinds[0] for kind in kinds)


def _leaves(batches: Any) -> list[PerReplica]:
    return jax.tree.leaves(batches, is_leaf=is_per_replica)
