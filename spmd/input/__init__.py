"""From any data source to batches on the devices, split over the replicas, ahead of use.

The path of a batch, one file each: a *source* (`sources/`) is read in passes of batches; a batch is
checked and flattened (`batch`); it is placed on the devices, each replica's rows on its own (`placement`), by a
thread that works ahead of the training loop (`prefetch`). Processes that each have a source of their own agree
on the rows of every step (`shares`). `pipeline/` is the machinery of front ends' datasets.

A *full batch* is one of the size that programs are compiled for. A *pass* is one reading of a source,
an epoch.
"""

from spmd.input.abstract import abstract_batch as abstract_batch
from spmd.input.device_map import DeviceMap as DeviceMap
from spmd.input.distributed import DistributedInput as DistributedInput
from spmd.input.distributed import distribute as distribute
from spmd.input.order import agree_on_order as agree_on_order
from spmd.input.parts import PartsPlacer as PartsPlacer
from spmd.input.placement import BatchPlacer as BatchPlacer
from spmd.input.position import Position as Position
from spmd.input.position import mark_used as mark_used
from spmd.input.position import without_unused as without_unused
from spmd.input.prefetch import BatchIterator as BatchIterator
from spmd.input.prefetch import ResumableIterator as ResumableIterator
from spmd.input.sources.base import AnySource as AnySource
from spmd.input.sources.base import Source as Source
from spmd.input.sources.base import reject_batch_size as reject_batch_size
from spmd.input.sources.base import require_batch_size as require_batch_size
from spmd.input.sources.protocols import ResumableBatches as ResumableBatches
from spmd.input.sources.protocols import SizedBatches as SizedBatches
from spmd.input.sources.registry import register_source as register_source
