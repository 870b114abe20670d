"""Kinds of data sources, one adapter each. Libraries are recognised without importing them."""

from spmd.input.sources.base import Source
from spmd.input.sources.find import find_source
from spmd.input.sources.protocols import ResumableBatches, SizedBatches

__all__ = ["ResumableBatches", "SizedBatches", "Source", "find_source"]
