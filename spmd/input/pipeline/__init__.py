"""Pipelines of elements on the host, vectorised: rows are shuffled, cut and repeated by their numbers.

`shuffle`, `take`, `skip`, `shard` and `repeat` work on row numbers, `batch` takes its rows in one gather, and
a map function that JAX can trace is compiled for the whole batch. `forms` defines the terms. This is
the machinery behind a front end's datasets; it is imported by front ends alone, so that
`import spmd` does not pay for it.
"""

from spmd.input.pipeline.batching import padded, rebatched
from spmd.input.pipeline.combine import concatenated, drawn, enumerated, mixed, zipped
from spmd.input.pipeline.element import leading_length, stack, to_element
from spmd.input.pipeline.file_formats import Paths, Reader, check_compression, lines, paths, records
from spmd.input.pipeline.file_shards import FileShard, is_reading_part, own_files
from spmd.input.pipeline.folding import (
    counted,
    first_state,
    next_state,
    scanned,
    taken_while,
    unique,
)
from spmd.input.pipeline.forms import Form
from spmd.input.pipeline.generator import generated
from spmd.input.pipeline.last_maps import LastMaps
from spmd.input.pipeline.lazy import Lazy
from spmd.input.pipeline.map_function import MapFunction, call_once
from spmd.input.pipeline.nested import grouped, interleaved, windows
from spmd.input.pipeline.origins import (
    array_rows,
    file_records,
    in_memory,
    iterated,
    numbers,
    random_numbers,
)
from spmd.input.pipeline.padding import Padding
from spmd.input.pipeline.shuffling import ShuffleOrder, peeking
from spmd.input.pipeline.spec import ArraySpec
from spmd.input.pipeline.stream import ready

__all__ = [
    "ArraySpec",
    "FileShard",
    "Form",
    "LastMaps",
    "Lazy",
    "MapFunction",
    "Padding",
    "Paths",
    "Reader",
    "ShuffleOrder",
    "array_rows",
    "call_once",
    "check_compression",
    "concatenated",
    "counted",
    "drawn",
    "enumerated",
    "file_records",
    "first_state",
    "generated",
    "grouped",
    "in_memory",
    "interleaved",
    "is_reading_part",
    "iterated",
    "leading_length",
    "lines",
    "mixed",
    "next_state",
    "numbers",
    "own_files",
    "padded",
    "paths",
    "peeking",
    "random_numbers",
    "ready",
    "rebatched",
    "records",
    "scanned",
    "stack",
    "taken_while",
    "to_element",
    "unique",
    "windows",
    "zipped",
]
