"""Where am I? The place of the running code: outside a step, between replicas, or in one replica.

A *frame* exists while a step is traced, or runs op by op. In a frame, code runs in one of two places. *Cross-replica*:
it sees values that are equal on all replicas, and per-replica values as a whole. *Replica*: it sees
one replica's block of everything. The frame is a context variable: other threads see no frame, so a
function that a step hands to another thread runs as if outside of a step.
"""

import contextlib
import contextvars
import dataclasses
from collections.abc import Callable, Generator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh

from spmd.assigned import assigned
from spmd.errors import BatchError, ReplicaContextError
from spmd.replica.blocks import BlockShapes
from spmd.replica.turns import Turns
from spmd.topology import Layout, layout_of
from spmd.typing import PyTree


@dataclasses.dataclass(frozen=True)
class BlockMask:
    """The valid rows of one replica's block, inside a step.

    Attributes:
        rows: traced bool array of shape `(rows_per_replica,)`.
        leaves: the traced leaves of the batch that the mask belongs to.
    """

    rows: jax.Array
    leaves: tuple[Any, ...]


@jax.jit
def _any_row(masks: Sequence[jax.Array]) -> jax.Array:
    return jnp.stack([mask.any() for mask in masks]).any()


# The check for padding (replica_dataflow.depends_on) knows this function by its name: asking whether a
# replica has rows at all does not leave its padding out.
ANY_ROW = "_any_row"


def has_rows(masks: Sequence[BlockMask]) -> jax.Array | None:
    """Tells whether a replica received a valid row, as a bool scalar; None if the step received no batch."""
    return _any_row([mask.rows for mask in masks]) if masks else None


@dataclasses.dataclass
class Frame:
    """A step that is being traced, or runs op by op.

    Attributes:
        mesh: where the step will run.
        table: the state that the step found, for the room that traces.
        enter_state: returns the context that prepares state for one replica, and makes it whole again.
        has_statistics: whether the state holds statistics over rows, such as batch normalization's.
        masks: of the batches that the running replica function received; None between replicas.
        merging: whether code of a replica has stepped out of it for a while.
        sums: how often gradients were summed over replicas.
        made: variables that the step made, each with a function that ends their part in it.
        building: whether the trace is only for the variables that it makes (`Adapter.building`).
        making_state: returns the context for code that runs at a step's first call only, and makes state that the
            step keeps; None where the step is traced again for that.
        is_first: whether the step is traced again if it makes variables.
        has_unsure_rows: whether results may be said to have rows, only because they are as long, since another trace finds out.
        blocks: shapes of what replicas exchange, if they may have different numbers of rows, and run programs of
            their own.
        gathers_rows: whether rows were gathered between replicas, padding included.
        turns: of replicas that run op by op; None while the step is traced.
    """

    mesh: Mesh
    table: object
    enter_state: Callable[[Sequence[BlockMask]], contextlib.AbstractContextManager[None]]
    has_statistics: bool = False
    masks: list[BlockMask] | None = None
    merging: bool = False
    sums: int = 0
    made: list[tuple[Any, Callable[[], None]]] = dataclasses.field(default_factory=list[Any])
    building: bool = False
    making_state: Callable[[], contextlib.AbstractContextManager[None]] | None = None
    is_first: bool = False
    has_unsure_rows: bool = False
    blocks: BlockShapes | None = None
    gathers_rows: bool = False
    turns: Turns | None = None

    @property
    def layout(self) -> Layout:
        """Axes of the mesh, and where arrays lie on it."""
        return layout_of(self.mesh)

    @property
    def in_replica(self) -> bool:
        """Whether the running code sees one replica's block."""
        return self.masks is not None


_FRAME: contextvars.ContextVar[Frame | None] = contextvars.ContextVar("spmd_frame", default=None)


def current_frame() -> Frame | None:
    """Returns the frame of the step that is being traced on this thread, or None."""
    return _FRAME.get()


def tracing(frame: Frame) -> contextlib.AbstractContextManager[Frame | None]:
    """Makes a frame current."""
    return assigned(_FRAME, frame)


def outside_of_steps() -> contextlib.AbstractContextManager[Frame | None]:
    """Runs code inside a step that runs op by op as if it stood outside."""
    return assigned(_FRAME, None)


@contextlib.contextmanager
def in_replica_of(frame: Frame, masks: list[BlockMask]) -> Generator[None]:
    """Moves a frame from between the replicas into one of them.

    Raises:
        ReplicaContextError: the frame is in a replica already.
    """
    if frame.in_replica:
        raise ReplicaContextError(
            "A step was run inside the replica function of another step. A replica runs on one device and has no "
            "replicas of its own: call the inner function directly, or run both one after the other."
        )
    # Code that has stepped out of a replica for a while goes back to a state that is prepared already.
    state = contextlib.nullcontext() if frame.merging else frame.enter_state(masks)
    with state:
        frame.masks = masks
        try:
            yield
        finally:
            frame.masks = None


@contextlib.contextmanager
def cross_replica_of(frame: Frame) -> Generator[None]:
    """Moves a frame out of the replica for a while."""
    masks, frame.masks, frame.merging = frame.masks, None, True
    try:
        yield
    finally:
        frame.masks, frame.merging = masks, False


@contextlib.contextmanager
def for_this_replica(
    make: Callable[[], contextlib.AbstractContextManager[Any]],
) -> Generator[None]:
    """Enters a context that changes what all replicas share, such as an attribute of a layer.

    While a step is traced, there is one replica's code. Where replicas take turns, the context is left while another
    one runs.

    Args:
        make: makes the context; called each time that it is entered.
    """
    frame = current_frame()
    turns = None if frame is None else frame.turns
    with make() if turns is None else turns.while_running(make):
        yield


def in_replica() -> bool:
    """Tells whether the running code is one replica's part of a step.

    Returns:
        True inside a function that a step runs per replica.

    Examples:
        >>> in_replica()
        False

    Source: `tf.distribute.in_cross_replica_context` is its opposite.
    """
    frame = current_frame()
    return frame is not None and frame.in_replica


def replica_id() -> jax.Array:
    """Returns the index of the replica that runs this code.

    Returns:
        int32 scalar, 0 to the number of replicas less one; 0 outside of a step.

    Examples:
        >>> int(replica_id())
        0

    Source: `tf.distribute.ReplicaContext.replica_id_in_sync_group`.
    """
    frame = current_frame()
    if frame is None or not frame.in_replica:
        return jnp.zeros((), jnp.int32)
    if frame.turns is not None:
        return jnp.asarray(frame.turns.index, jnp.int32)
    return jax.lax.axis_index(replica_axis())


def replica_axis() -> str | tuple[str, ...]:
    """Returns the mesh axes that collectives of the step that is being traced go over.

    Raises:
        ReplicaContextError: no step is being traced.
    """
    frame = current_frame()
    if frame is None:
        raise ReplicaContextError(
            "Expected a step that is being traced, but no step is running here. Call this from the "
            "function of an spmd.Step."
        )
    return frame.layout.axis


def valid_rows(batch: PyTree = None) -> jax.Array:
    """Returns which rows of this replica's block are data, and which are padding.

    The last batch of an epoch seldom fills the devices. It is padded to the shape that was compiled,
    and this mask tells its rows from the padding. Use it wherever rows are counted or averaged.

    Args:
        batch: the batch, or one array of it; needed only if the step received several batches.

    Returns:
        bool array of shape `(rows,)`.

    Raises:
        ReplicaContextError: called outside of a step.
        BatchError: the step received no batch, or several and none was named.

    Examples:
        >>> import numpy as np, spmd
        >>> mesh = spmd.make_mesh(["cpu"])
        >>> step = spmd.Step(lambda x: spmd.all_reduce(spmd.valid_rows().sum()), mesh)
        >>> batches = spmd.distribute(np.ones((5, 2)), mesh, batch_size=4)
        >>> [int(step(batch)) for batch in batches]
        [4, 1]
    """
    frame = current_frame()
    if frame is None or frame.masks is None:
        raise ReplicaContextError(
            "spmd.valid_rows() tells the valid rows of one replica's block, so it works only inside "
            "a function that a step runs per replica."
        )
    masks = frame.masks
    if batch is not None:
        leaves = {id(leaf) for leaf in jax.tree.leaves(batch)}
        masks = [mask for mask in masks if leaves & {id(leaf) for leaf in mask.leaves}]
    if not masks:
        other = ", or the array given is not a part of one as the step received it"
        raise BatchError(
            f"This step received no distributed batch{'' if batch is None else other}, so there are no "
            "valid rows to tell. Pass it batches that spmd.distribute(...) made."
        )
    if len(masks) > 1:
        raise BatchError(
            f"This step received {len(masks)} batches. Say whose rows are meant: spmd.valid_rows(batch)."
        )
    return masks[0].rows


def is_first_of_process() -> Any:
    """Tells whether this is the first replica of its process: where what a process does once is done.

    Returns:
        A boolean of the program, the same program in all processes; True where there is one replica, or none. Op by
        op, a Python bool.
    """
    frame = current_frame()
    if frame is not None and frame.turns is not None:
        return frame.turns.index == 0
    if frame is None or not frame.in_replica or frame.layout.replicas == 1:
        return True
    return jnp.isin(replica_id(), jnp.asarray(frame.layout.first_replicas))
