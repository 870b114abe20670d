"""Kinds of data sources, one adapter each. Libraries are recognised without importing them."""

from spmd.input.sources.base import (
    AnySource,
    Source,
    count_batches,
    reject_batch_size,
    require_batch_size,
)
from spmd.input.sources.protocols import ResumableBatches, SizedBatches
from spmd.input.sources.registry import find_source, register_source

__all__ = [
    "AnySource",
    "ResumableBatches",
    "SizedBatches",
    "Source",
    "count_batches",
    "find_source",
    "register_source",
    "reject_batch_size",
    "require_batch_size",
]
