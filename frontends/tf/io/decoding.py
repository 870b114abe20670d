"""Texts to numbers, and other forms of texts: raw bytes, CSV, base64, compressed ones."""

import base64
import binascii
import csv
import itertools
import re
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.dtypes import as_dtype
from frontends.tf.io.host_values import in_shape, texts_of

_RAW = frozenset(
    {
        *("bfloat16", "float16", "float32", "float64", "complex64", "complex128", "bool"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16"),
    }
)


def decode_raw(
    input_bytes: TensorLike,
    out_type: DTypeLike,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> Any:
    """Takes the bytes of texts as numbers.

    Args:
        input_bytes: a text, or an array of them of the same length.
        out_type: dtype of the numbers.
        little_endian: the order of the bytes.
        fixed_length: cut texts to so many bytes, or fill them with zeros.

    Returns:
        An array in host memory, with one axis more, for the numbers of a text.

    Raises:
        ValueError: texts differ in length, or hold no whole number of numbers.

    Examples:
        >>> decode_raw(b"ab", np.uint8)
        array([97, 98], dtype=uint8)

    Source: `tf.io.decode_raw`.
    """
    dtype = as_dtype(out_type)
    if dtype.name not in _RAW:
        raise ValueError(f"decode_raw: out_type must be a type of numbers, got {dtype.name}.")
    kind = dtype.dtype if little_endian else dtype.dtype.newbyteorder(">")
    texts, shape = texts_of(input_bytes, "decode_raw: input_bytes")
    if fixed_length is not None:
        if fixed_length <= 0 or fixed_length % kind.itemsize:
            raise ValueError(
                f"decode_raw: fixed_length ({fixed_length}) must be a positive multiple of the size of out_type "
                f"({kind.itemsize})."
            )
        texts = [text[:fixed_length].ljust(fixed_length, b"\0") for text in texts]
    sizes = {len(text) for text in texts}
    if len(sizes) > 1:
        raise ValueError(
            "DecodeRaw requires input strings to all be the same size, but some are "
            f"{sorted(sizes)[0]} and some {sorted(sizes)[1]} bytes long.\nFix: fixed_length, or decode before batch()"
        )
    size = sizes.pop() if sizes else 0
    if size % kind.itemsize:
        raise ValueError(
            f"Input to DecodeRaw has length {size} that is not a multiple of {kind.itemsize}, the size of {dtype.name}.\n"
            "Fix: the out_type that was written"
        )
    flat = np.frombuffer(b"".join(texts), kind).astype(dtype.dtype)
    return as_tensors(flat.reshape(*shape, size // kind.itemsize))


def decode_csv(
    records: TensorLike,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> list[Any]:
    """Takes lines of CSV apart.

    Args:
        records: a line, or an array of lines.
        record_defaults: for each column a list with its default, whose type is that of the column; or, for a column that
            must not be empty, an empty list or a dtype.
        field_delim: what separates fields.
        use_quote_delim: whether double quotes quote.
        na_value: a text that stands for a missing value, beside the empty one.
        select_cols: numbers of the columns to keep, ascending; one default for each.

    Returns:
        For each column, values in the shape of `records`.

    Raises:
        ValueError: a line has another number of fields, or a field is missing or is no number of the type.

    Examples:
        >>> decode_csv(["1,a", "2,"], [[0], ["none"]])
        [array([1, 2], dtype=int32), array([b'a', b'none'], dtype=object)]

    Source: `tf.io.decode_csv`.
    """
    texts, shape = texts_of(records, "decode_csv: records")
    columns = csv_columns(record_defaults, select_cols)
    rows = [
        fields(text, field_delim, use_quote_delim, select_cols, len(columns), number)
        for number, text in enumerate(texts)
    ]
    made: list[Any] = []
    for number, column in enumerate(columns):
        values = [column.value(row[number], na_value, number, at) for at, row in enumerate(rows)]
        if column.dtype == object:
            made.append(in_shape(values, shape))
        else:
            made.append(as_tensors(np.array(values, column.dtype).reshape(shape)[()]))
    return made


class CsvColumn:
    """A column of CSV: its dtype, and its default."""

    def __init__(self, default: Any) -> None:
        """Takes an entry of `record_defaults`."""
        self.default: Any = None
        if isinstance(default, list | tuple | np.ndarray) or np.ndim(default):
            array = np.asarray(default)
            if array.size > 1:
                raise ValueError(
                    f"decode_csv: a default must be one value or none, got {default!r:.60}.\nFix: [value]"
                )
        elif isinstance(default, str | bytes | int | float | np.generic) or hasattr(
            default, "__array__"
        ):
            array = np.asarray(default)
        else:
            array = np.empty(
                0, object if (found := as_dtype(default)).name == "string" else found.dtype
            )
        kind = array.dtype.kind
        if kind in "OSU":
            self.dtype = np.dtype(object)
        elif (
            isinstance(default, np.ndarray | np.generic)
            or hasattr(default, "__array__")
            or not array.size
        ):
            self.dtype = array.dtype
        else:
            self.dtype = np.dtype(
                np.float32 if kind == "f" else np.int32 if _is_small(array) else np.int64
            )
        if self.dtype not in (object, np.int32, np.int64, np.float32, np.float64):
            raise ValueError(
                f"decode_csv: columns are float32, float64, int32, int64 or string, not {self.dtype}.\n"
                "Fix: the default, or its dtype"
            )
        if array.size:
            self.default = array.reshape(()).item()
            if isinstance(self.default, str):
                self.default = self.default.encode()

    def scalar(self, field: bytes, na_value: str, column: int, row: int) -> Any:
        """Returns the value of a field, of the column's dtype; see `value`."""
        value = self.value(field, na_value, column, row)
        return value if self.dtype.kind == "O" else self.dtype.type(value)

    def value(self, field: bytes, na_value: str, column: int, row: int) -> Any:
        """Returns the value of a field.

        Raises:
            ValueError: it is missing, or no number of the column's type.
        """
        if not field or (na_value and field == na_value.encode()):
            if self.default is None:
                raise ValueError(f"Field {column} is required but missing in record {row}!")
            return self.default
        if self.dtype == object:
            return field
        text = field.strip()
        try:
            if self.dtype.kind == "f":
                if b"_" in text:
                    raise ValueError
                return float(text)
            if not re.fullmatch(rb"[+-]?\d+", text):
                raise ValueError
            found = int(text)
            limits = np.iinfo(self.dtype.type)  # type: ignore[arg-type]
            if not limits.min <= found <= limits.max:
                raise ValueError
            return found
        except ValueError:
            shown = field.decode(errors="replace")
            raise ValueError(
                f"Field {column} in record {row} is not a valid {self.dtype}: {shown}\n"
                "Fix: record_defaults, whose types are the columns'"
            ) from None


def csv_columns(
    record_defaults: Sequence[Any], select_cols: Sequence[int] | None
) -> list[CsvColumn]:
    """Makes the columns of `record_defaults`.

    Raises:
        ValueError: defaults and columns do not fit.
    """
    if select_cols is not None:
        chosen = list(select_cols)
        if len(chosen) != len(record_defaults):
            raise ValueError(
                f"decode_csv: length of select_cols ({len(chosen)}) and record_defaults ({len(record_defaults)}) do not match."
            )
        if (
            any(one >= other for one, other in itertools.pairwise(chosen))
            or min(chosen, default=0) < 0
        ):
            raise ValueError(
                f"decode_csv: select_cols must be ascending and not negative, got {chosen}.\nFix: {sorted(set(chosen))}"
            )
    return [CsvColumn(default) for default in record_defaults]


def fields(
    line: bytes,
    delimiter: str,
    quoted: bool,
    select: Sequence[int] | None,
    expected: int | None,
    number: int,
) -> list[bytes]:
    """Divides a line of CSV.

    Args:
        line: the line.
        delimiter: between fields.
        quoted: whether double quotes quote.
        select: numbers of the fields to keep, or None.
        expected: how many there must be; None for any number.
        number: the line's, for errors.

    Raises:
        ValueError: it has another number of fields, or quotes are wrong.
    """
    if quoted and b'"' in line:
        found = _quoted_fields(line, delimiter, number)
    else:
        found = line.split(delimiter.encode()) if line else []
        if b"\n" in line or b"\r" in line:
            raise _quotes_error(line, number)
    if select is not None:
        if len(found) <= max(select, default=-1):
            raise ValueError(
                f"Expect {max(select) + 1} fields but have {len(found)} in record {number}"
            )
        return [found[one] for one in select]
    if expected is not None and len(found) != expected:
        raise ValueError(
            f"Expect {expected} fields but have {len(found)} in record {number}\nFix: one of record_defaults for each field"
        )
    return found


def _quoted_fields(line: bytes, delimiter: str, number: int) -> list[bytes]:
    text = line.decode("latin1")
    if any(sign in re.sub(_WHOLE.replace(",", re.escape(delimiter)), "", text) for sign in '"\r\n'):
        raise _quotes_error(line, number)
    row = next(csv.reader([text], delimiter=delimiter, strict=True))
    return [field.encode("latin1") for field in row]


def _quotes_error(line: bytes, number: int) -> ValueError:
    return ValueError(
        f"Unquoted fields cannot have quotes/CRLFs inside, and quoted ones must end in a quote, in record {number}: "
        f"{line[:60]!r}"
    )


# Quoted fields, from their beginning to what follows them.
_WHOLE = r'(?:(?<=,)|^)"(?:[^"]|"")*"(?=,|$)'


def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None) -> Any:
    """Encodes texts in base64 for addresses, with `-` and `_`.

    Args:
        input: a text, or an array of them.
        pad: whether to fill up with `=`.

    Source: `tf.io.encode_base64`.
    """
    texts, shape = texts_of(input, "encode_base64: input")
    found = [base64.urlsafe_b64encode(text) for text in texts]
    return in_shape(found if pad else [one.rstrip(b"=") for one in found], shape)


def decode_base64(input: TensorLike, name: str | None = None) -> Any:
    """Decodes base64 for addresses, filled up with `=` or not.

    Raises:
        ValueError: a text is no base64.

    Source: `tf.io.decode_base64`.
    """
    texts, shape = texts_of(input, "decode_base64: input")
    return in_shape([_decoded(text) for text in texts], shape)


def _decoded(text: bytes) -> bytes:
    if re.fullmatch(rb"[A-Za-z0-9_-]*={0,2}", text):
        try:
            bare = text.rstrip(b"=")
            return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))
        except binascii.Error:
            pass
    raise ValueError(f"decode_base64: invalid character, or length, in {text[:60]!r}.")


def decode_compressed(
    bytes: TensorLike, compression_type: str = "", name: str | None = None
) -> Any:
    """Decompresses texts.

    Args:
        bytes: a text, or an array of them.
        compression_type: `""`, `"ZLIB"` or `"GZIP"`.

    Raises:
        ValueError: there is no such compression, or a text is not compressed so.

    Source: `tf.io.decode_compressed`.
    """
    bits = {"ZLIB": 15, "GZIP": 31, "": None}
    if compression_type not in bits:
        raise ValueError(
            f"decode_compressed: compression_type must be '', 'ZLIB' or 'GZIP', got {compression_type!r}."
        )
    texts, shape = texts_of(bytes, "decode_compressed: bytes")
    chosen = bits[compression_type]
    if chosen is None:
        return in_shape(texts, shape)
    try:
        return in_shape([zlib.decompress(text, chosen) for text in texts], shape)
    except zlib.error as error:
        raise ValueError(
            f"decode_compressed: not compressed with {compression_type}: {error}"
        ) from None


def _is_small(array: np.ndarray) -> bool:
    limits = np.iinfo(np.int32)
    return not array.size or limits.min <= array.min() <= array.max() <= limits.max
