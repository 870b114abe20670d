"""Pipelines of elements on the host, vectorised: rows are shuffled, cut and repeated by their numbers.

`shuffle`, `take`, `skip`, `shard` and `repeat` work on row numbers, `batch` takes its rows in one gather, and
a map function that JAX can trace is compiled for the whole batch. `forms` defines the terms. This is
the machinery behind a front end's datasets; it is imported by front ends alone, so that
`import spmd` does not pay for it.
"""

from spmd.input.pipeline.batching import batched_by as batched_by
from spmd.input.pipeline.batching import padded as padded
from spmd.input.pipeline.batching import rebatched as rebatched
from spmd.input.pipeline.combine import concatenated as concatenated
from spmd.input.pipeline.combine import drawn as drawn
from spmd.input.pipeline.combine import enumerated as enumerated
from spmd.input.pipeline.combine import mixed as mixed
from spmd.input.pipeline.combine import zipped as zipped
from spmd.input.pipeline.crc32c import masked_crc32c as masked_crc32c
from spmd.input.pipeline.draws import Numbers as Numbers
from spmd.input.pipeline.draws import TracedDraws as TracedDraws
from spmd.input.pipeline.element import Stackable as Stackable
from spmd.input.pipeline.element import is_stackable as is_stackable
from spmd.input.pipeline.element import leading_length as leading_length
from spmd.input.pipeline.element import split as split
from spmd.input.pipeline.element import stack as stack
from spmd.input.pipeline.element import to_element as to_element
from spmd.input.pipeline.errors_left_out import without_errors as without_errors
from spmd.input.pipeline.file_formats import Paths as Paths
from spmd.input.pipeline.file_formats import Reader as Reader
from spmd.input.pipeline.file_formats import check_compression as check_compression
from spmd.input.pipeline.file_formats import fixed_length_records as fixed_length_records
from spmd.input.pipeline.file_formats import lines as lines
from spmd.input.pipeline.file_formats import opened as opened
from spmd.input.pipeline.file_formats import paths as paths
from spmd.input.pipeline.file_shards import FileShard as FileShard
from spmd.input.pipeline.file_shards import is_reading_part as is_reading_part
from spmd.input.pipeline.file_shards import own_files as own_files
from spmd.input.pipeline.folding import counted as counted
from spmd.input.pipeline.folding import first_state as first_state
from spmd.input.pipeline.folding import next_state as next_state
from spmd.input.pipeline.folding import scanned as scanned
from spmd.input.pipeline.folding import taken_while as taken_while
from spmd.input.pipeline.folding import unique as unique
from spmd.input.pipeline.forms import Form as Form
from spmd.input.pipeline.generator import generated as generated
from spmd.input.pipeline.last_maps import LastMaps as LastMaps
from spmd.input.pipeline.lazy import Lazy as Lazy
from spmd.input.pipeline.map_function import MapFunction as MapFunction
from spmd.input.pipeline.map_function import Sending as Sending
from spmd.input.pipeline.map_function import call_once as call_once
from spmd.input.pipeline.nested import grouped as grouped
from spmd.input.pipeline.nested import interleaved as interleaved
from spmd.input.pipeline.nested import windows as windows
from spmd.input.pipeline.origins import array_rows as array_rows
from spmd.input.pipeline.origins import file_records as file_records
from spmd.input.pipeline.origins import in_memory as in_memory
from spmd.input.pipeline.origins import iterated as iterated
from spmd.input.pipeline.origins import numbers as numbers
from spmd.input.pipeline.origins import random_numbers as random_numbers
from spmd.input.pipeline.padding import Padding as Padding
from spmd.input.pipeline.record_files import framed as framed
from spmd.input.pipeline.record_files import records as records
from spmd.input.pipeline.resampling import resampled as resampled
from spmd.input.pipeline.shuffling import ShuffleOrder as ShuffleOrder
from spmd.input.pipeline.shuffling import peeking as peeking
from spmd.input.pipeline.spec import ArraySpec as ArraySpec
from spmd.input.pipeline.spec import StackableSpec as StackableSpec
from spmd.input.pipeline.stored import is_stored as is_stored
from spmd.input.pipeline.stored import stored as stored
from spmd.input.pipeline.stored import stored_count as stored_count
from spmd.input.pipeline.stored import written as written
from spmd.input.pipeline.stream import ready as ready
from spmd.input.pipeline.stream import stepped as stepped
