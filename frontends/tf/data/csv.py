"""Datasets of CSV files: `CsvDataset`, and `make_csv_dataset`, which finds out names and types by itself."""

import functools
import glob
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, SupportsIndex

import numpy as np

from frontends.tf.data.base import integer
from frontends.tf.data.constants import UNKNOWN_CARDINALITY
from frontends.tf.data.dataset import Dataset
from frontends.tf.data.files import of_files
from frontends.tf.io.decoding import CsvColumn, csv_columns, fields
from spmd.input.pipeline import ArraySpec, Paths, check_compression, lines, opened, stepped


def CsvDataset(
    filenames: Paths | Dataset,
    record_defaults: Sequence[Any],
    compression_type: str | None = None,
    buffer_size: SupportsIndex | None = None,
    header: bool = False,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    exclude_cols: Sequence[int] | None = None,
) -> Dataset:
    r"""Reads the rows of CSV files, one file after the other.

    Args:
        filenames: A path, a list of them, or a dataset of them.
        record_defaults: For each column a dtype, where it must not be empty, or a default, whose dtype is the column's.
        compression_type: None or `""`, `"GZIP"`, or `"ZLIB"`.
        buffer_size: Accepted; not used.
        header: Whether the first line of each file is left out.
        field_delim: What separates fields.
        use_quote_delim: Whether double quotes quote; a quoted field may have several lines.
        na_value: A text that stands for a missing value, beside the empty one.
        select_cols: Numbers of the columns to keep, ascending.
        exclude_cols: Numbers of the columns to leave out.

    Returns:
        A dataset of tuples, of unknown cardinality. Reading it raises ValueError where a row has another number of fields, or a
        field is missing or is no number of the type.

    Raises:
        ValueError: the columns do not fit, or there is no such compression.

    Examples:
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "data.csv")
        ...     with open(path, "w") as file:
        ...         _ = file.write("a,1\nb,\n")
        ...     for row in CsvDataset(path, ["", 7]):
        ...         print(row)
        (b'a', np.int32(1))
        (b'b', np.int32(7))

    Source: ``tf.data.experimental.CsvDataset``.
    """
    if select_cols is not None and exclude_cols is not None:
        raise ValueError(
            "CsvDataset: expected select_cols or exclude_cols, got both.\nFix: keep one"
        )
    columns = csv_columns(record_defaults, select_cols)
    left_out = frozenset(exclude_cols or ())

    def read(file: IO[bytes]) -> Iterator[Any]:
        rows = whole_lines(file, use_quote_delim)
        if header:
            next(rows, None)
        return enumerate(rows)

    def parse(numbered: tuple[int, bytes]) -> tuple[Any, ...]:
        number, line = numbered
        total = len(columns) + len(left_out)
        row = fields(line, field_delim, use_quote_delim, select_cols, total, number)
        kept = [field for place, field in enumerate(row) if place not in left_out]
        return tuple(
            [
                column.scalar(field, na_value, place, number)
                for place, (column, field) in enumerate(zip(columns, kept, strict=True))
            ]
        )

    spec = tuple(ArraySpec((), column.dtype) for column in columns)
    rows = of_files("CsvDataset", filenames, compression_type, read, None)
    return rows._derive(lambda form: stepped(form, parse, lambda: spec), UNKNOWN_CARDINALITY)


def make_csv_dataset(
    file_pattern: Paths,
    batch_size: SupportsIndex,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: SupportsIndex | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: SupportsIndex = 10000,
    shuffle_seed: SupportsIndex | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: SupportsIndex | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Reads CSV files into batches of features by name.

    Args:
        file_pattern: A pattern, or a list of patterns or paths.
        batch_size: Rows of a batch.
        column_names: Names of all columns; None takes them from the first file's header.
        column_defaults: A default or dtype for each column that is kept; None finds types by looking at rows.
        label_name: The column that is the label.
        select_columns: Names or numbers of the columns to keep.
        field_delim: What separates fields.
        use_quote_delim: Whether double quotes quote.
        na_value: A text that stands for a missing value, beside the empty one.
        header: Whether files begin with the names.
        num_epochs: How often to read the files; None means without end.
        shuffle: Whether to put rows in random order.
        shuffle_buffer_size: As in `Dataset.shuffle`.
        shuffle_seed: As in `Dataset.shuffle`.
        prefetch_buffer_size: Accepted; not used.
        num_parallel_reads: How many files are read in turns; None means 1.
        sloppy: Accepted; not used: the order never depends on timing.
        num_rows_for_inference: How many rows to look at for types; None means all.
        compression_type: As in `CsvDataset`.
        ignore_errors: Leave rows out that cannot be read.
        encoding: Of the names in the header.

    Returns:
        A dataset of dicts of arrays of shape `[batch_size]`, or with a label of pairs of such a dict and an array.

    Raises:
        ValueError: no file matches, or names, columns and defaults do not fit.

    Source: ``tf.data.experimental.make_csv_dataset``.
    """
    check_compression(compression_type, "make_csv_dataset")
    names = matching(file_pattern)
    first = _Rows(names, compression_type, field_delim, use_quote_delim)
    if column_names is None:
        if not header:
            raise ValueError(
                "Cannot infer column names without a header line.\nFix: column_names=[...], or header=True"
            )
        column_names = first.names(encoding)
    if len(column_names) != len(set(column_names)):
        raise ValueError(f"Cannot have duplicate column names, got {list(column_names)}.")
    kept = _kept(column_names, select_columns)
    if column_defaults is None:
        column_defaults = first.defaults(kept, header, na_value, num_rows_for_inference)
    if len(column_defaults) != len(kept):
        raise ValueError(
            f"make_csv_dataset: {len(kept)} columns need as many column_defaults, got {len(column_defaults)}."
        )
    chosen = [column_names[number] for number in kept]
    if label_name is not None and label_name not in chosen:
        raise ValueError(
            f"`label_name` provided must be one of the columns: {chosen}, got {label_name!r}."
        )

    def of_file(name: Any) -> Dataset:
        rows = CsvDataset(
            name,
            column_defaults,
            compression_type,
            header=header,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=None if len(kept) == len(column_names) else kept,
        )
        return rows.ignore_errors() if ignore_errors else rows

    def by_name(*columns: Any) -> Any:
        found = dict(zip(chosen, columns, strict=True))
        return found if label_name is None else (found, found.pop(label_name))

    dataset = in_turns(names, of_file, num_parallel_reads, shuffle, shuffle_seed)
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    # An endless dataset has no smaller batch.
    return dataset.repeat(num_epochs).batch(batch_size, num_epochs is None).map(by_name)


def matching(file_pattern: Paths) -> list[str]:
    """Lists the files of patterns, sorted.

    Raises:
        ValueError: there are none.
    """
    try:
        return [str(one) for one in Dataset.list_files(file_pattern, shuffle=False)]
    except FileNotFoundError as error:
        raise ValueError(f"No files match `file_pattern`. {error}") from None


def in_turns(
    names: Sequence[str],
    of_file: Callable[[Any], Dataset],
    parallel: SupportsIndex | None,
    shuffle: bool,
    seed: SupportsIndex | None,
) -> Dataset:
    """Makes a dataset of files' datasets, of which several are read in turns."""
    files = Dataset.list_files(
        [glob.escape(name) for name in names], shuffle=shuffle and len(names) > 1, seed=seed
    )
    cycle = 1 if parallel is None else integer(parallel, "num_parallel_reads", 1)
    return files.interleave(of_file, cycle_length=cycle)


def whole_lines(file: IO[bytes], quoted: bool) -> Iterator[bytes]:
    """Yields lines, with those together that are in one quoted field; leaves empty ones out."""
    if not quoted:
        yield from filter(None, lines(file))
        return
    begun = b""
    for raw in file:
        line = begun + raw
        if line.count(b'"') % 2:
            begun = line
            continue
        begun, line = b"", line.removesuffix(b"\n").removesuffix(b"\r")
        if line:
            yield line
    if begun:
        yield begun.removesuffix(b"\n")


class _Rows:
    """The first rows of files, to find out names and types."""

    def __init__(
        self, names: Sequence[str], compression: str | None, delimiter: str, quoted: bool
    ) -> None:
        self._files, self._compression = names, compression
        self._divide = functools.partial(
            fields, delimiter=delimiter, quoted=quoted, select=None, expected=None
        )
        self._quoted = quoted

    def names(self, encoding: str) -> list[str]:
        for row in self._of(self._files[0]):
            return [name.decode(encoding) for name in row]
        raise ValueError(
            f"{self._files[0]} is empty, so it has no header.\nFix: column_names=[...]"
        )

    def defaults(
        self, kept: Sequence[int], header: bool, na_value: str, count: int | None
    ) -> list[Any]:
        kinds: list[int] = [0] * len(kept)
        looked = 0
        for name in self._files:
            rows = self._of(name)
            if header:
                next(rows, None)
            for row in rows:
                if count is not None and looked >= count:
                    break
                looked += 1
                for place, number in enumerate(kept):
                    field = row[number] if number < len(row) else b""
                    if field and field != na_value.encode():
                        kinds[place] = _widened(kinds[place], field)
        return [_KINDS[kind] for kind in kinds]

    def _of(self, name: str) -> Iterator[list[bytes]]:
        with opened(name, self._compression) as file:
            for number, line in enumerate(whole_lines(file, self._quoted)):
                yield self._divide(line, number=number)


# What a column is taken for, from the narrowest: a default that says its dtype.
_KINDS: tuple[Any, ...] = (
    np.zeros(1, np.int32),
    np.zeros(1, np.int64),
    np.zeros(1, np.float32),
    np.zeros(1, np.float64),
    [""],
)


def _widened(kind: int, field: bytes) -> int:
    while kind < len(_KINDS) - 1:
        try:
            value = CsvColumn(_KINDS[kind]).value(field, "", 0, 0)
        except ValueError:
            kind += 1
            continue
        if kind == 2 and np.isfinite(value) and abs(value) > np.finfo(np.float32).max:
            kind += 1
            continue
        break
    return kind


def _kept(names: Sequence[str], select: Sequence[Any] | None) -> list[int]:
    if select is None:
        return list(range(len(names)))
    found: list[Any] = [
        names.index(one) if isinstance(one, str) and one in names else one for one in select
    ]
    wrong = [one for one in found if isinstance(one, str) or not 0 <= one < len(names)]
    if wrong:
        raise ValueError(
            f"`select_columns`: there are no columns {wrong}; the columns are {list(names)}."
        )
    if len(set(found)) != len(found):
        raise ValueError(f"`select_columns` has a column twice: {list(select)}.")
    return sorted(found)
