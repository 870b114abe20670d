"""What a step's function may call: where it runs, whose rows it has, and values that travel between replicas."""

from spmd.replica.array_like import ArrayLike
from spmd.replica.collectives import ReduceOp, all_gather, all_reduce, broadcast, combine
from spmd.replica.context import (
    ANY_ROW,
    BlockMask,
    Frame,
    assigned,
    cross_replica_of,
    current_frame,
    has_rows,
    in_replica,
    in_replica_of,
    replica_axis,
    replica_id,
    tracing,
    valid_rows,
)
from spmd.replica.gradient_buckets import CollectiveOptions, collective_options
from spmd.replica.gradients import collected, sum_gradients, sum_over_replicas, sums_by_itself
from spmd.replica.loss import average_loss, weighted
from spmd.replica.rows import RowLayout, deal, masks_of_length, share
from spmd.replica.values import (
    PerReplica,
    RowMask,
    TracedPerReplica,
    is_per_replica,
    stack_replicas,
)

__all__ = [
    "ANY_ROW",
    "ArrayLike",
    "BlockMask",
    "CollectiveOptions",
    "Frame",
    "PerReplica",
    "ReduceOp",
    "RowLayout",
    "RowMask",
    "TracedPerReplica",
    "all_gather",
    "all_reduce",
    "assigned",
    "average_loss",
    "broadcast",
    "collected",
    "collective_options",
    "combine",
    "cross_replica_of",
    "current_frame",
    "deal",
    "has_rows",
    "in_replica",
    "in_replica_of",
    "is_per_replica",
    "masks_of_length",
    "replica_axis",
    "replica_id",
    "share",
    "stack_replicas",
    "sum_gradients",
    "sum_over_replicas",
    "sums_by_itself",
    "tracing",
    "valid_rows",
    "weighted",
]
