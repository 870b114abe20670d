"""Functions of texts, on the host."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frontends.tf._text_hashes import fingerprints, murmurhash, siphash
from frontends.tf._typing import Axis, DTypeLike, HostLike, TensorLike
from frontends.tf.data.host_arrays import (
    check_on_host,
    each,
    host_array,
    integers,
    shown,
    single_text,
    text_array,
)
from frontends.tf.data.iterator import OutOfRangeError
from frontends.tf.dtypes import as_dtype
from frontends.tf.ops.convert import static_axes
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.strings import patterns
from frontends.tf.strings.mapping import in_parts, on_each, vector

# `len` is a parameter of `substr`.
_size = len
_UNITS = ("BYTE", "UTF8_CHAR")


def lower(input: HostLike, encoding: str = "", name: str | None = None) -> Any:
    """Makes capital letters small.

    Args:
        input: texts.
        encoding: `"utf-8"` for all letters, `""` for those of ASCII.

    Raises:
        ValueError: it is another encoding.

    Source: `tf.strings.lower`.
    """
    return on_each(_in_case("lower", encoding), input, "tf.strings.lower: input")


def upper(input: HostLike, encoding: str = "", name: str | None = None) -> Any:
    """Makes small letters capital; see `lower`.

    Raises:
        ValueError: it is another encoding.

    Source: `tf.strings.upper`.
    """
    return on_each(_in_case("upper", encoding), input, "tf.strings.upper: input")


def strip(input: HostLike, name: str | None = None) -> Any:
    """Takes spaces off both ends.

    Source: `tf.strings.strip`.
    """
    return on_each(bytes.strip, input, "tf.strings.strip: input")


def length(input: HostLike, unit: str = "BYTE", name: str | None = None) -> Any:
    """Counts bytes, or characters of UTF-8.

    Args:
        input: texts.
        unit: `"BYTE"` or `"UTF8_CHAR"`.

    Returns:
        int32, of the texts' shape.

    Raises:
        ValueError: it is another unit.

    Source: `tf.strings.length`.
    """
    count = len if _unit(unit) == "BYTE" else _begun_characters
    return on_each(count, input, "tf.strings.length: input", np.int32)


def substr(
    input: HostLike, pos: TensorLike, len: TensorLike, unit: str = "BYTE", name: str | None = None
) -> Any:
    """Takes parts of texts.

    Args:
        input: texts.
        pos: where the part begins; negative ones count from the end. One number, or one for each text.
        len: of the part; it ends with the text, at the latest.
        unit: `"BYTE"` or `"UTF8_CHAR"`.

    Raises:
        ValueError: a position is outside of its text, or the shapes do not fit.

    Source: `tf.strings.substr`.
    """
    by_byte = _unit(unit) == "BYTE"
    start, count = (
        integers(one, f"tf.strings.substr: {what}") for one, what in ((pos, "pos"), (len, "len"))
    )
    if start.shape != count.shape:
        raise ValueError(
            f"tf.strings.substr: pos and len should have the same shape, got: {list(start.shape)} vs. {list(count.shape)}"
        )
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(substr(input.flat_values, pos, len, unit))
    texts = text_array(input, "tf.strings.substr: input")
    shape = np.broadcast_shapes(texts.shape, start.shape)
    found = np.empty(shape, object)
    flat = found.reshape(-1)
    columns = (np.broadcast_to(one, shape).reshape(-1).tolist() for one in (texts, start, count))
    for number, (text, begin, size) in enumerate(zip(*columns, strict=True)):
        units = text if by_byte else _characters(text)
        if not -_size(units) <= begin <= _size(units):
            raise ValueError(
                f"pos {begin} out of range for string {text!r} at index {number}.\n"
                "Fix: tf.strings.length tells how long a text is."
            )
        begin += _size(units) if begin < 0 else 0
        part = units[begin:] if size < 0 else units[begin : begin + size]
        flat[number] = part if by_byte else b"".join(part)
    return shown(found)


def split(
    input: HostLike, sep: TensorLike = None, maxsplit: int = -1, name: str | None = None
) -> Any:
    """Splits texts at a separator.

    Args:
        input: texts.
        sep: the separator; None or the empty text means spaces, of which several count as one.
        maxsplit: how often to split at most; -1 for no limit.

    Returns:
        A vector of the parts of a single text; else a `tf.RaggedTensor`.

    Examples:
        >>> from frontends import tf
        >>> tf.strings.split(["a b", "c"]).to_list()
        [[b'a', b'b'], [b'c']]

    Source: `tf.strings.split`.
    """
    return in_parts(splitter(sep, maxsplit), input, "tf.strings.split: input")


def splitter(sep: TensorLike, maxsplit: int) -> Callable[[bytes], list[bytes]]:
    """Makes the function that splits a text; see `split`.

    Raises:
        ValueError: `sep` is not a single text.
    """
    separator = b"" if sep is None else single_text(sep, "tf.strings.split: sep")
    if maxsplit == 0:
        return lambda text: [text]
    most = max(maxsplit, -1)
    return (
        (lambda text: text.split(separator, most)) if separator else lambda text: _words(text, most)
    )


def _words(text: bytes, most: int) -> list[bytes]:
    """Splits a text at spaces; what is left after the last split is a part, even if it is empty."""
    words = text.split(None, most)
    if most > 0 and len(words) == most:
        words.append(b"")
    return words


def join(inputs: Sequence[Any], separator: str | bytes = "", name: str | None = None) -> Any:
    """Joins texts that are at the same place of several arrays.

    Args:
        inputs: texts, arrays of one shape or ragged tensors of the same rows; single texts go with all.
        separator: between the texts.

    Raises:
        ValueError: the shapes differ.

    Examples:
        >>> from frontends import tf
        >>> tf.strings.join([["a", "b"], "c"], separator="-").tolist()
        [b'a-c', b'b-c']

    Source: `tf.strings.join`.
    """
    between = single_text(separator, "tf.strings.join: separator")
    ragged = [one for one in inputs if isinstance(one, RaggedTensor)]
    if ragged:
        splits = [[np.asarray(one).tolist() for one in each.nested_row_splits] for each in ragged]
        if any(one != splits[0] for one in splits):
            raise ValueError("tf.strings.join: the ragged tensors have different rows.")
        flat = [one.flat_values if isinstance(one, RaggedTensor) else one for one in inputs]
        return ragged[0].with_flat_values(join(flat, separator))
    arrays = [text_array(one, f"tf.strings.join: inputs[{at}]") for at, one in enumerate(inputs)]
    shapes = {one.shape for one in arrays if one.ndim}
    if len(shapes) > 1:
        raise ValueError(
            f"Input shapes do not match: expected texts of one shape, or single texts, got {sorted(shapes)}."
        )
    shape = shapes.pop() if shapes else ()
    found = np.empty(shape, object)
    flat = found.reshape(-1)
    columns = [np.broadcast_to(one, shape).reshape(-1).tolist() for one in arrays]
    for number in range(flat.size):
        flat[number] = between.join([column[number] for column in columns])
    return shown(found)


def reduce_join(
    inputs: HostLike,
    axis: Axis = None,
    keepdims: bool = False,
    separator: str | bytes = "",
    name: str | None = None,
) -> Any:
    """Joins the texts along dimensions.

    Args:
        inputs: an array of texts, or a ragged tensor.
        axis: the dimension, or several, in the order in which to join; None means all.
        keepdims: whether they stay, with size 1.
        separator: between the texts.

    Raises:
        OutOfRangeError: there is no such dimension.

    Source: `tf.strings.reduce_join`.
    """
    between = single_text(separator, "tf.strings.reduce_join: separator")
    if isinstance(inputs, RaggedTensor):
        return _ragged_join(inputs, axis, keepdims, between)
    array = text_array(inputs, "tf.strings.reduce_join: inputs")
    given = static_axes(axis)
    axes = list(range(array.ndim)) if given is None else list(np.atleast_1d(np.asarray(given, int)))
    if any(not -array.ndim <= one < array.ndim for one in axes):
        raise OutOfRangeError(
            f"Invalid reduction dimension: {axes} for an array of {array.ndim} dimensions."
        )
    axes = [int(one) % array.ndim for one in axes]
    kept = [one for one in range(array.ndim) if one not in axes]
    order = (
        axes if given is None else axes[::-1]
    )  # as TensorFlow does it: the first one goes fastest
    rows = array.transpose(*kept, *order).reshape(*(array.shape[one] for one in kept), -1)
    found = np.empty(rows.shape[:-1], object)
    for where in np.ndindex(found.shape):
        found[where] = between.join(rows[where].tolist())
    if keepdims:
        found = found.reshape([1 if n in axes else size for n, size in enumerate(array.shape)])
    return shown(found)


def _ragged_join(inputs: RaggedTensor, axis: Axis, keepdims: bool, between: bytes) -> Any:
    from frontends.tf.ragged.reductions import reduced

    def of_rows(values: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
        parts: list[list[bytes]] = [[] for _ in range(count)]
        for text, row in zip(values.tolist(), rows.tolist(), strict=True):
            parts[row].append(text)
        return each(lambda texts: between.join(texts), vector(parts, object))

    return reduced(
        inputs,
        axis,
        keepdims,
        of_rows,
        lambda values, at: text_array(reduce_join(values, at, separator=between), "reduce_join"),
    )


def unsorted_segment_join(
    inputs: HostLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    separator: str | bytes = "",
    name: str | None = None,
) -> Any:
    """Joins the texts of each segment.

    Args:
        inputs: texts.
        segment_ids: the segment of each.
        num_segments: how many there are.
        separator: between the texts.

    Raises:
        ValueError: there is no such segment, or the shapes do not fit.

    Source: `tf.strings.unsorted_segment_join`.
    """
    between = single_text(separator, "unsorted_segment_join: separator")
    texts = text_array(inputs, "unsorted_segment_join: inputs")
    ids = integers(segment_ids, "unsorted_segment_join: segment_ids")
    count = int(integers(num_segments, "unsorted_segment_join: num_segments"))
    if ids.shape != texts.shape[: ids.ndim]:
        raise ValueError(
            f"unsorted_segment_join: the shape of inputs must begin with that of segment_ids, got {texts.shape} and {ids.shape}."
        )
    if ids.size and not 0 <= ids.min() <= ids.max() < count:
        raise ValueError(
            f"unsorted_segment_join: segment_ids must be from 0 to {count - 1}, got {ids.tolist()}."
        )
    inner = texts.shape[ids.ndim :]
    rows = texts.reshape(ids.size, -1)
    parts: list[list[list[bytes]]] = [[[] for _ in range(rows.shape[1])] for _ in range(count)]
    for row, segment in zip(rows.tolist(), ids.reshape(-1).tolist(), strict=True):
        for place, text in enumerate(row):
            parts[segment][place].append(text)
    found = np.array([[between.join(one) for one in row] for row in parts] or [], object)
    return shown(found.reshape(count, *inner))


def regex_replace(
    input: HostLike,
    pattern: HostLike,
    rewrite: HostLike,
    replace_global: bool = True,
    name: str | None = None,
) -> Any:
    r"""Replaces what a pattern matches.

    Args:
        input: texts.
        pattern: a regular expression in RE2's syntax.
        rewrite: what to put there; `\1` is the first group, `\0` all that matched.
        replace_global: whether to go on after the first match in a text.

    Returns:
        Texts of the shape of `input`. A `rewrite` that names a group that the pattern does not have leaves them as they are,
        with a warning in the log, as RE2 does.

    Raises:
        ValueError: `pattern` is no regular expression.

    Examples:
        >>> from frontends import tf
        >>> print(tf.strings.regex_replace("a1b22", "[0-9]+", "#"))
        b'a#b#'

    Source: `tf.strings.regex_replace`. Python's `re` matches (`frontends/tf/strings/patterns.py` says what is translated).
    """
    found = patterns.compiled(single_text(pattern, "regex_replace: pattern"))
    parts = patterns.rewritten(single_text(rewrite, "regex_replace: rewrite"), found.groups)
    return on_each(
        lambda text: patterns.replaced(found, parts, text, everywhere=replace_global),
        input,
        "tf.strings.regex_replace: input",
    )


def regex_full_match(input: HostLike, pattern: HostLike, name: str | None = None) -> Any:
    """Tells which texts a pattern matches as a whole.

    Args:
        input: texts.
        pattern: a regular expression in RE2's syntax.

    Raises:
        ValueError: `pattern` is no regular expression.

    Source: `tf.strings.regex_full_match`.
    """
    found = patterns.compiled(single_text(pattern, "regex_full_match: pattern"))
    return on_each(
        lambda text: found.fullmatch(text.decode("utf-8", "surrogateescape")) is not None,
        input,
        "tf.strings.regex_full_match: input",
        np.bool_,
    )


def to_number(input: HostLike, out_type: DTypeLike = "float32", name: str | None = None) -> Any:
    """Parses texts as numbers.

    Args:
        input: texts.
        out_type: float32, float64, or integers of 32 or 64 bits.

    Raises:
        ValueError: a text is no number, or one that does not fit; or it is another dtype.

    Source: `tf.strings.to_number`.
    """
    kind = as_dtype(out_type)
    if kind.name not in ("float32", "float64", "int32", "int64", "uint32", "uint64"):
        raise ValueError(
            f"tf.strings.to_number: out_type must be float32, float64, int32 or int64, got {kind.name}."
        )
    read = _real if kind.is_floating else _whole(kind.dtype)

    def number(text: bytes) -> Any:
        found = read(text.strip())
        if found is None:
            raise ValueError(
                "tf.strings.to_number: StringToNumberOp could not correctly convert string: "
                f"{text.decode('utf-8', 'replace')!r} is no {kind.name}. Leave such texts out before, with "
                "tf.strings.regex_full_match."
            )
        return found

    with np.errstate(over="ignore"):
        return on_each(number, input, "tf.strings.to_number: input", kind.dtype)


_REAL = re.compile(rb"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan)", re.I)
_HEXADECIMAL = re.compile(rb"[+-]?0[xX][0-9a-fA-F]+")
_WHOLE = re.compile(rb"[+-]?\d+")


def _real(text: bytes) -> float | None:
    if _HEXADECIMAL.fullmatch(text):
        return float.fromhex(text.decode())
    return float(text) if _REAL.fullmatch(text) else None


def _whole(dtype: np.dtype) -> Callable[[bytes], int | None]:
    limits: Any = np.iinfo(dtype)

    def read(text: bytes) -> int | None:
        if not _WHOLE.fullmatch(text):
            return None
        return found if limits.min <= (found := int(text)) <= limits.max else None

    return read


def to_hash_bucket_fast(input: HostLike, num_buckets: int, name: str | None = None) -> Any:
    """Hashes texts into buckets by FarmHash's fingerprint, the same buckets as TensorFlow's.

    Args:
        input: texts.
        num_buckets: how many there are.

    Returns:
        int64, of the texts' shape.

    Raises:
        ValueError: there is no bucket.

    Source: `tf.strings.to_hash_bucket_fast`.
    """
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(to_hash_bucket_fast(input.flat_values, num_buckets))
    count = _bucket_count(num_buckets, "to_hash_bucket_fast")
    texts = text_array(input, "tf.strings.to_hash_bucket_fast: input")
    found = fingerprints(texts.reshape(-1).tolist()) % np.uint64(count)
    return shown(found.astype(np.int64).reshape(texts.shape))


def to_hash_bucket_strong(
    input: HostLike, num_buckets: int, key: Sequence[int], name: str | None = None
) -> Any:
    """Hashes texts into buckets by SipHash.

    Args:
        input: texts.
        num_buckets: how many there are.
        key: two integers.

    Raises:
        ValueError: there is no bucket, or the key has not two integers.

    Source: `tf.strings.to_hash_bucket_strong`.
    """
    keys = integers(key, "to_hash_bucket_strong: key").reshape(-1).tolist()
    if len(keys) != 2:
        raise ValueError(f"to_hash_bucket_strong: Key must have 2 elements, got {len(keys)}.")
    first, second = (one & (2**64 - 1) for one in keys)
    return _hashed(
        lambda text: siphash(text, first, second), input, num_buckets, "to_hash_bucket_strong"
    )


def to_hash_bucket(input: HostLike, num_buckets: int, name: str | None = None) -> Any:
    """Hashes texts into buckets by the hash of TensorFlow's first versions.

    Source: `tf.strings.to_hash_bucket`.
    """
    return _hashed(murmurhash, input, num_buckets, "to_hash_bucket")


def _hashed(
    hash_of: Callable[[bytes], int], input: HostLike, num_buckets: int, op_name: str
) -> Any:
    count = _bucket_count(num_buckets, op_name)
    return on_each(
        lambda text: hash_of(text) % count, input, f"tf.strings.{op_name}: input", np.int64
    )


def _bucket_count(num_buckets: int, op_name: str) -> int:
    count = int(num_buckets)
    if count < 1:
        raise ValueError(f"{op_name}: num_buckets must be at least 1, got {count}.")
    return count


def as_string(
    input: HostLike,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Any:
    """Writes numbers as texts.

    Args:
        input: numbers, booleans or texts.
        precision: digits behind the point; -1 means 6.
        scientific: whether to write an exponent.
        shortest: whether to write as few digits as are needed, of 6.
        width: to which texts are filled.
        fill: with what: `"0"`, `" "`, or `"-"` for spaces at the end.

    Raises:
        ValueError: options do not fit each other, or the type.

    Examples:
        >>> from frontends import tf
        >>> tf.strings.as_string([1.5, 2.25], precision=2).tolist()
        [b'1.50', b'2.25']

    Source: `tf.strings.as_string`.
    """
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(
            as_string(input.flat_values, precision, scientific, shortest, width, fill)
        )
    array = host_array(input, "tf.strings.as_string: input")
    kind = array.dtype.kind
    is_real = kind in "fcV" or array.dtype.name == "bfloat16"
    if scientific and shortest:
        raise ValueError("Cannot select both scientific and shortest notation")
    if kind in "iub" and (scientific or shortest or precision >= 0):
        what = "scientific and shortest format" if scientific or shortest else "precision"
        raise ValueError(
            f"tf.strings.as_string: {what} not supported for datatype {as_dtype(array.dtype).name}"
        )
    if len(fill) > 1 or (fill and fill not in "0 +-"):
        raise ValueError(f"Fill argument not supported: {fill!r}")
    ending = "s" if kind == "O" else "d"
    if is_real:
        ending = (f".{precision}" if precision > -1 else "") + (
            "e" if scientific else "g" if shortest else "f"
        )
    size = str(width) if width > -1 else ""
    flags = f"%{fill if kind != 'O' or fill != '0' else ''}{size}{ending}"
    unfilled = f"%{fill if fill != '0' else ''}{size}{ending}"

    def written(value: HostLike) -> bytes:
        if kind == "O":
            return (flags % value.decode("utf-8", "surrogateescape")).encode(
                "utf-8", "surrogateescape"
            )
        if kind == "b":
            return b"true" if value else b"false"
        if kind == "c":
            return f"({flags % value.real},{flags % value.imag})".encode()
        # C fills no infinity with zeros.
        return ((unfilled if is_real and not np.isfinite(value) else flags) % value).encode()

    if is_real and kind != "c":
        array = array.astype(np.float64)
    return shown(each(written, array))


def format(
    template: str,
    inputs: HostLike,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Any:
    """Writes arrays into a template.

    Args:
        template: the text, with placeholders.
        inputs: an array, or a list of them, one for each placeholder.
        placeholder: what stands for an array.
        summarize: how many entries at the beginning and the end of each dimension to write; -1 means all.

    Raises:
        ValueError: there are more or fewer arrays than placeholders.

    Source: `tf.strings.format`.
    """
    check_on_host(inputs, "tf.strings.format: inputs")
    values = inputs if isinstance(inputs, list | tuple) else [inputs]
    pieces = template.split(placeholder)
    if len(pieces) != len(values) + 1:
        raise ValueError(
            f"{len(pieces) - 1} placeholder(s) in template does not match {len(values)} tensor(s) provided as input"
        )
    made = pieces[0]
    for value, piece in zip(values, pieces[1:], strict=True):
        made += _summary(host_array(value, "tf.strings.format: inputs"), summarize) + piece
    return shown(np.array(made.encode("utf-8", "surrogateescape"), object))


def _summary(array: np.ndarray, summarize: int, depth: int = 1) -> str:
    if array.ndim == 0:
        return _entry(array[()])
    items = list(array) if array.dtype.kind != "O" or array.ndim > 1 else array.tolist()
    if array.ndim == 1:
        return "[" + " ".join(_shortened([_entry(one) for one in items], summarize)) + "]"
    rows = [_summary(row, summarize, depth + 1) for row in items]
    return "[" + ("\n" * (array.ndim - 1) + " " * depth).join(_shortened(rows, summarize)) + "]"


def _shortened(texts: list[str], summarize: int) -> list[str]:
    if summarize < 0 or len(texts) <= 2 * summarize:
        return texts
    return [*texts[:summarize], "...", *texts[-summarize:]]


def _entry(value: HostLike) -> str:
    if isinstance(value, bytes):
        return f'"{value.decode("utf-8", "surrogateescape")}"'
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return str(int(value))
    if np.iscomplexobj(value):
        return f"({_entry(value.real)},{_entry(value.imag)})"
    short = f"{float(value):.6g}"
    return short if np.float32(short) == np.float32(value) else f"{float(value):.9g}"


def bytes_split(input: HostLike, name: str | None = None) -> Any:
    """Splits texts into single bytes.

    Returns:
        A vector of those of a single text; else a `tf.RaggedTensor`.

    Source: `tf.strings.bytes_split`.
    """
    return in_parts(
        lambda text: [text[at : at + 1] for at in range(len(text))],
        input,
        "tf.strings.bytes_split: input",
    )


def ngrams(
    data: HostLike,
    ngram_width: int | Sequence[int],
    separator: str | bytes = " ",
    pad_values: HostLike = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Joins neighbours in the innermost dimension.

    Args:
        data: texts, an array or a ragged tensor.
        ngram_width: how many to join, or several such numbers, whose results follow each other.
        separator: between the texts.
        pad_values: what to put before and behind each row, a text or a pair; None for nothing.
        padding_width: how often; None means one time fewer than are joined.
        preserve_short_sequences: whether a row that is too short is joined as a whole.

    Returns:
        A ragged tensor; an array, if `data` is one.

    Raises:
        ValueError: an argument does not fit.

    Source: `tf.strings.ngrams`.
    """
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    if not widths or any(not isinstance(one, int) or one < 1 for one in widths):
        raise ValueError(f"ngram_width must be integers of at least 1, got {ngram_width!r}.")
    if padding_width is not None and (pad_values is None or padding_width < 1):
        raise ValueError(
            f"padding_width must be greater than 0, and needs pad_values, got {padding_width}."
        )
    between = single_text(separator, "tf.strings.ngrams: separator")
    pair = pad_values if isinstance(pad_values, list | tuple) else (pad_values, pad_values)
    left, right = (b"" if one is None else single_text(one, "pad_values") for one in pair)

    def of_row(row: list[bytes]) -> list[bytes]:
        made: list[bytes] = []
        for width in widths:
            pad = 0
            if pad_values is not None:
                pad = width - 1 if padding_width is None else min(padding_width, width - 1)
            padded = [left] * pad + row + [right] * pad
            made += [between.join(padded[at : at + width]) for at in range(len(padded) - width + 1)]
        if preserve_short_sequences and not made and row:
            pad = 0
            if pad_values is not None:
                pad = widths[0] - 1 if padding_width is None else min(padding_width, widths[0] - 1)
            made.append(between.join([left] * pad + row + [right] * pad))
        return made

    if isinstance(data, RaggedTensor):
        if isinstance(data.values, RaggedTensor):
            return data.with_values(
                ngrams(
                    data.values,
                    widths,
                    separator,
                    pad_values,
                    padding_width,
                    preserve_short_sequences,
                )
            )
        rows = data.to_list()
    else:
        array = text_array(data, "tf.strings.ngrams: data")
        if array.ndim == 1:
            return shown(vector(of_row(array.tolist()), object))
        if array.ndim > 2:
            outer = RaggedTensor.from_uniform_row_length(
                array.reshape(-1, *array.shape[2:]), array.shape[1], array.shape[0]
            )
            return outer.with_values(
                ngrams(
                    outer.values,
                    widths,
                    separator,
                    pad_values,
                    padding_width,
                    preserve_short_sequences,
                )
            ).to_tensor()
        if array.ndim == 0:
            raise ValueError(
                "tf.strings.ngrams: data must have one dimension at least, got a single text."
            )
        rows = array.tolist()
    found = [of_row(row) for row in rows]
    made = RaggedTensor.from_row_lengths(
        vector([text for row in found for text in row], object), [len(row) for row in found]
    )
    return made if isinstance(data, RaggedTensor) else made.to_tensor()


def _in_case(case: str, encoding: str) -> Callable[[bytes], bytes]:
    if encoding not in ("", "utf-8"):
        raise ValueError(
            f"only utf8 or '' (no encoding) is supported for encoding, got {encoding}."
        )
    if not encoding:
        return getattr(bytes, case)
    return lambda text: getattr(text.decode("utf-8", "replace"), case)().encode()


def _unit(unit: str) -> str:
    if unit not in _UNITS:
        raise ValueError(f"unit must be one of {', '.join(_UNITS)}, got {unit!r}.")
    return unit


def _characters(text: bytes) -> list[bytes]:
    """Takes a text apart into characters: a byte that begins one, and those that go on with it.

    Bytes at the beginning that go on with no character are one as well.
    """
    return re.findall(rb"[^\x80-\xBF][\x80-\xBF]*|[\x80-\xBF]+", text)


def _begun_characters(text: bytes) -> int:
    """Counts the characters that begin in a text."""
    return len(re.findall(rb"[^\x80-\xBF]", text))
