"""From any data source to batches on the devices, split over the replicas, ahead of use.

The path of a batch, one file each: a *source* (`sources/`) is read in passes of batches; a batch is
checked and flattened (`batch`); it is placed on the devices, each replica's rows on its own (`placement`), by a
thread that works ahead of the training loop (`prefetch`). Processes that each have a source of their own agree
on the rows of every step (`shares`). `pipeline/` is the machinery of front ends' datasets.

A *full batch* is one of the size that programs are compiled for. A *pass* is one reading of a source,
an epoch.
"""

from spmd.input.abstract import abstract_batch
from spmd.input.device_map import DeviceMap
from spmd.input.distributed import DistributedInput, distribute
from spmd.input.order import agree_on_order
from spmd.input.placement import BatchPlacer
from spmd.input.position import Position, mark_used, without_unused
from spmd.input.prefetch import BatchIterator, ResumableIterator
from spmd.input.sources.base import AnySource, Source, reject_batch_size, require_batch_size
from spmd.input.sources.protocols import ResumableBatches, SizedBatches
from spmd.input.sources.registry import register_source

__all__ = [
    "AnySource",
    "BatchIterator",
    "BatchPlacer",
    "DeviceMap",
    "DistributedInput",
    "Position",
    "ResumableBatches",
    "ResumableIterator",
    "SizedBatches",
    "Source",
    "abstract_batch",
    "agree_on_order",
    "distribute",
    "mark_used",
    "register_source",
    "reject_batch_size",
    "require_batch_size",
    "without_unused",
]
