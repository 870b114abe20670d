"""Functions of texts and the characters in them, on the host."""

import codecs
import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from frontends.tf._typing import HostLike, TensorLike
from frontends.tf.data.host_arrays import integers, shown
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.strings.mapping import in_parts, on_each

_REPLACEMENT = 0xFFFD
_OUTPUTS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")
# Of encodings whose order of bytes a mark may tell: the marks, and the codecs that they stand for.
_MARKED = {
    "utf-16": ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")),
    "utf-32": ((codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be")),
}
# A character: its code, and where it begins in the text.
_Found = tuple[int, int]


def unicode_decode(
    input: HostLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """Returns the characters of texts, as numbers.

    Args:
        input: texts.
        input_encoding: such as `"UTF-8"`.
        errors: what becomes of bytes that are no character: `"replace"`, `"ignore"` or `"strict"`.
        replacement_char: what replaces them.
        replace_control_characters: whether to replace control characters as well.

    Returns:
        A vector of int32 for a single text; else a `tf.RaggedTensor`.

    Raises:
        ValueError: the encoding or `errors` is unknown; or with `"strict"`, a text is not as encoded.

    Source: `tf.strings.unicode_decode`.
    """
    read = _reader(input_encoding, errors, replacement_char, replace_control_characters)
    return _codes(read, input, "unicode_decode")


def unicode_decode_with_offsets(
    input: HostLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Returns the characters of texts, and in which byte each begins; see `unicode_decode`.

    Source: `tf.strings.unicode_decode_with_offsets`.
    """
    read = _reader(input_encoding, errors, replacement_char, replace_control_characters)
    op_name = "unicode_decode_with_offsets"
    return _codes(read, input, op_name), _offsets(read, input, op_name)


def unicode_split(
    input: HostLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> Any:
    """Splits texts into characters; see `unicode_decode`.

    Raises:
        ValueError: as of `unicode_decode`; or the encoding is not one of `"UTF-8"`, `"UTF-16-BE"` and `"UTF-32-BE"`.

    Source: `tf.strings.unicode_split`.
    """
    read = _reader(input_encoding, errors, replacement_char, False)
    return _pieces(read, input, input_encoding, "unicode_split")


def unicode_split_with_offsets(
    input: HostLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Splits texts into characters, and says in which byte each begins; see `unicode_decode`.

    Source: `tf.strings.unicode_split_with_offsets`.
    """
    read = _reader(input_encoding, errors, replacement_char, False)
    op_name = "unicode_split_with_offsets"
    return _pieces(read, input, input_encoding, op_name), _offsets(read, input, op_name)


def unicode_encode(
    input: HostLike,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> Any:
    """Makes texts of characters; see `unicode_decode`.

    Args:
        input: numbers, of which the last dimension makes a text; an array or a ragged tensor.
        output_encoding: `"UTF-8"`, `"UTF-16-BE"` or `"UTF-32-BE"`.
        errors: what becomes of numbers that are no character.
        replacement_char: what replaces them.

    Raises:
        ValueError: an argument is unknown; or with `"strict"`, a number is no character.

    Source: `tf.strings.unicode_encode`.
    """
    write = _writer(output_encoding)
    keep = _handler(errors, replacement_char)

    def text(codes: list[int]) -> bytes:
        kept = (code if _is_valid(code) else keep(f"code point {code}") for code in codes)
        return write([code for code in kept if code is not None])

    if isinstance(input, RaggedTensor):
        if isinstance(input.values, RaggedTensor) or np.ndim(input.values) > 1:
            return input.with_values(
                unicode_encode(input.values, output_encoding, errors, replacement_char)
            )
        rows = input.to_list()
        shape: tuple[int, ...] = (len(rows),)
    else:
        array = integers(input, "tf.strings.unicode_encode: input")
        if not array.ndim:
            raise ValueError(
                "unicode_encode: input must have one dimension at least, got a scalar."
            )
        shape = array.shape[:-1]
        rows = array.reshape(int(np.prod(shape)), array.shape[-1]).tolist()
    found = np.empty(len(rows), object)
    found[:] = [text(row) for row in rows]
    return shown(found.reshape(shape))


def unicode_transcode(
    input: HostLike,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """Writes texts in another encoding; see `unicode_decode` and `unicode_encode`.

    Source: `tf.strings.unicode_transcode`.
    """
    read = _reader(input_encoding, errors, replacement_char, replace_control_characters)
    write = _writer(output_encoding)
    return on_each(
        lambda text: write([code for code, _ in read(text)]),
        input,
        "tf.strings.unicode_transcode: input",
    )


def unicode_script(input: TensorLike, name: str | None = None) -> Any:
    """Returns the scripts of characters, by ICU's numbers; -1 for numbers that are no character.

    Args:
        input: characters, as numbers; an array or a ragged tensor.

    Source: `tf.strings.unicode_script`.
    """
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(unicode_script(input.flat_values))
    codes = integers(input, "tf.strings.unicode_script: input")
    starts, scripts = _scripts()
    found = scripts[np.searchsorted(starts, codes, "right") - 1]
    return shown(np.where((codes < 0) | (codes > sys.maxunicode), np.int32(-1), found))


@functools.cache
def _scripts() -> tuple[np.ndarray, np.ndarray]:
    """Returns where runs of characters of one script begin, and their scripts: the Unicode standard's, in ICU's numbers."""
    runs = np.array(json.loads(Path(__file__).with_name("scripts.json").read_text()))
    return runs[:, 0], runs[:, 1].astype(np.int32)


def _codes(read: Callable[[bytes], list[_Found]], input: HostLike, op_name: str) -> Any:
    return in_parts(
        lambda text: [code for code, _ in read(text)],
        input,
        f"tf.strings.{op_name}: input",
        np.int32,
    )


def _offsets(read: Callable[[bytes], list[_Found]], input: HostLike, op_name: str) -> Any:
    return in_parts(
        lambda text: [start for _, start in read(text)],
        input,
        f"tf.strings.{op_name}: input",
        np.int64,
    )


def _pieces(
    read: Callable[[bytes], list[_Found]], input: HostLike, encoding: str, op_name: str
) -> Any:
    write = _writer(encoding)
    return in_parts(
        lambda text: [write([code]) for code, _ in read(text)],
        input,
        f"tf.strings.{op_name}: input",
    )


def _reader(
    encoding: str, errors: str, replacement: int, controls: bool
) -> Callable[[bytes], list[_Found]]:
    """Makes the function that finds the characters of a text."""
    try:
        codec = codecs.lookup(encoding).name
    except LookupError:
        raise ValueError(f"Could not create converter for input encoding: {encoding}") from None
    keep = _handler(errors, replacement)

    def read(text: bytes) -> list[_Found]:
        found: list[_Found] = []
        for char, start in _characters(text, codec):
            if char is None:
                code = keep(f"bytes at {start} of {text!r:.60}")
            elif controls and char < " ":
                code = replacement
            else:
                code = ord(char)
            if code is not None:
                found.append((code, start))
        return found

    return read


def _characters(text: bytes, codec: str) -> list[tuple[str | None, int]]:
    """Finds characters, or None for bytes that are none, and where they begin."""
    at = 0
    if codec in _MARKED:
        # Without a mark, the first byte is the highest one.
        mark, codec = next(
            (one for one in _MARKED[codec] if text.startswith(one[0])), (b"", _MARKED[codec][1][1])
        )
        at = len(mark)
    found: list[tuple[str | None, int]] = []
    for char in text[at:].decode(codec, _BAD_BYTES):
        # A mark belongs to the first character, as in ICU.
        start = at if found else 0
        size = ord(char) - _FIRST_SURROGATE
        if 0 <= size < 0x800:
            found.append((None, start))
            at += size
        else:
            found.append((char, start))
            at += len(char.encode(codec))
    return found


_BAD_BYTES = "frontends.tf.strings.bad_bytes"
_FIRST_SURROGATE = 0xD800


def _marked(error: UnicodeError) -> tuple[str, int]:
    """Puts a surrogate, which no text has, in the place of bad bytes, to tell how many they are."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return chr(_FIRST_SURROGATE + error.end - error.start), error.end


codecs.register_error(_BAD_BYTES, _marked)


def _handler(errors: str, replacement: int) -> Callable[[str], int | None]:
    """Returns what stands for what is no character; None leaves it out."""
    if errors not in ("replace", "ignore", "strict"):
        raise ValueError(f"errors must be one of replace, ignore, strict, got {errors!r}.")
    if not _is_valid(replacement):
        raise ValueError(f"replacement_char out of unicode codepoint range: {replacement}")

    def keep(what: str) -> int | None:
        if errors == "strict":
            raise ValueError(f"Invalid formatting on input string: {what}")
        return replacement if errors == "replace" else None

    return keep


def _is_valid(code: int) -> bool:
    return 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF


def _writer(encoding: str) -> Callable[[list[int]], bytes]:
    if encoding not in _OUTPUTS:
        raise ValueError(f"output_encoding must be one of {', '.join(_OUTPUTS)}, got {encoding!r}.")
    return lambda codes: "".join(map(chr, codes)).encode(encoding)
