"""What tables are filled with: keys and values out of arrays, or of the lines of a file."""

import os
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.data.host_arrays import host_array
from frontends.tf.dtypes import DType, as_dtype
from frontends.tf.strings import to_number
from spmd.files import reads
from spmd.typing import StrPath


class TextFileIndex:
    """What a line of a file gives: all of it, its number, or a column, by the column's number.

    Attributes:
        WHOLE_LINE: all of the line.
        LINE_NUMBER: its number, from zero.

    Source: `tf.lookup.TextFileIndex`.
    """

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class Initializer(Protocol):
    """What a table is filled with.

    Attributes:
        key_dtype: of the keys.
        value_dtype: of the values.
    """

    key_dtype: DType
    value_dtype: DType

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the keys and the values."""
        ...


class KeyValueTensorInitializer:
    """Fills a table with keys and values.

    Args:
        keys: a vector.
        values: as many.
        key_dtype: of the keys; None takes that of the vector.
        value_dtype: of the values.

    Raises:
        ValueError: keys and values differ in number, or do not fit the dtypes.

    Source: `tf.lookup.KeyValueTensorInitializer`.
    """

    def __init__(
        self,
        keys: TensorLike,
        values: TensorLike,
        key_dtype: DTypeLike = None,
        value_dtype: DTypeLike = None,
        name: str | None = None,
    ) -> None:
        """Keeps the arrays."""
        self._keys = host_array(keys, "KeyValueTensorInitializer: keys", key_dtype).reshape(-1)
        self._values = host_array(values, "KeyValueTensorInitializer: values", value_dtype).reshape(
            -1
        )
        if len(self._keys) != len(self._values):
            raise ValueError(
                f"KeyValueTensorInitializer: expected as many values as keys, got {len(self._values)} and {len(self._keys)}."
            )
        self.key_dtype, self.value_dtype = as_dtype(self._keys.dtype), as_dtype(self._values.dtype)

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the keys and the values."""
        return self._keys, self._values


class TextFileInitializer:
    """Fills a table from the lines of a file.

    Args:
        filename: the file.
        key_dtype: of the keys: int64 or string.
        key_index: what of a line is the key; see `TextFileIndex`.
        value_dtype: of the values.
        value_index: what of a line is the value.
        vocab_size: how many lines to take; None means all.
        delimiter: between columns.
        value_index_offset: what to add to values that are numbers of lines.

    Raises:
        ValueError: an index and a dtype do not fit.

    Source: `tf.lookup.TextFileInitializer`.
    """

    def __init__(
        self,
        filename: StrPath,
        key_dtype: DTypeLike,
        key_index: int,
        value_dtype: DTypeLike,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        """Checks the arguments; the file is read when a table is made of it."""
        self._path: Any = filename
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        self._columns = (_column(key_index, self.key_dtype), _column(value_index, self.value_dtype))
        self._offset = value_index_offset if value_index == TextFileIndex.LINE_NUMBER else 0
        self._size, self._delimiter = vocab_size, delimiter.encode()

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Reads the file.

        Raises:
            FileNotFoundError: there is none.
            ValueError: a line has too few columns, or no number where one is to be; or there are fewer lines than are to be
                taken.
        """
        path = self._path.decode() if isinstance(self._path, bytes) else os.fspath(self._path)
        with reads(path) as file:
            lines = [line.rstrip(b"\r\n") for line in file]
        if self._size is not None:
            if len(lines) < self._size:
                raise ValueError(
                    f"Invalid vocab_size in {path}: expected {self._size} but got {len(lines)}."
                )
            lines = lines[: self._size]
        keys, values = (
            [column(number, line, self._delimiter) for number, line in enumerate(lines)]
            for column in self._columns
        )
        dtypes = self.key_dtype, self.value_dtype
        made = [_typed(each, dtype) for each, dtype in zip((keys, values), dtypes, strict=True)]
        return made[0], made[1] + self._offset if self._offset else made[1]


class TextFileStringTableInitializer(TextFileInitializer):
    """Fills a table of strings by the numbers of lines.

    Source: `tf.contrib.lookup.TextFileStringTableInitializer`.
    """

    def __init__(
        self,
        filename: StrPath,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
    ) -> None:
        """Makes it; see `TextFileInitializer`."""
        super().__init__(
            filename, "int64", key_column_index, "string", value_column_index, vocab_size, delimiter
        )


class TextFileIdTableInitializer(TextFileInitializer):
    """Fills a table of the numbers of lines, by the lines.

    Source: `tf.contrib.lookup.TextFileIdTableInitializer`.
    """

    def __init__(
        self,
        filename: StrPath,
        key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        key_dtype: DTypeLike = "string",
    ) -> None:
        """Makes it; see `TextFileInitializer`."""
        super().__init__(
            filename,
            key_dtype,
            key_column_index,
            "int64",
            value_column_index,
            vocab_size,
            delimiter,
        )


_Column = Callable[[int, bytes, bytes], Any]


def _column(index: int, dtype: DType) -> _Column:
    if index == TextFileIndex.LINE_NUMBER:
        if dtype.name not in ("int64", "int32"):
            raise ValueError(
                "TextFileInitializer: Signature mismatch. The number of a line is no "
                f"tf.{dtype.name}: write tf.int64, or TextFileIndex.WHOLE_LINE."
            )
        return lambda number, line, delimiter: number
    if index == TextFileIndex.WHOLE_LINE:
        if dtype.name not in ("string", "int64", "int32"):
            raise ValueError(
                "TextFileInitializer: Signature mismatch. A whole line is no "
                f"tf.{dtype.name}: write tf.string or tf.int64."
            )
        return lambda number, line, delimiter: line
    if index < 0:
        raise ValueError(
            f"TextFileInitializer: Invalid index of a column: {index}. Write a number from 0, or a name of "
            "tf.lookup.TextFileIndex."
        )

    def column(number: int, line: bytes, delimiter: bytes) -> bytes:
        fields = line.split(delimiter)
        if index >= len(fields):
            raise ValueError(
                f"TextFileInitializer: Invalid number of columns in line {number}: {len(fields)}, and column {index} is asked for. "
                f"Lines were split at delimiter={delimiter.decode()!r}: write another one, or a smaller index."
            )
        return fields[index]

    return column


def _typed(values: list[Any], dtype: DType) -> np.ndarray:
    if dtype.name != "string" and values and isinstance(values[0], bytes):
        return np.asarray(to_number(values, dtype))
    return host_array(values, "TextFileInitializer", dtype)
