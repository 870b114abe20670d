"""`tf.compat.v1.strings`: TensorFlow 1's parameters of functions of texts; all others are those of `tf.strings`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import Axis, DTypeLike, HostLike, TensorLike
from frontends.tf.data.host_arrays import text_array
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.strings import hashing, joining, letters, numbers
from frontends.tf.strings.mapping import in_parts
from frontends.tf.strings.separators import splitter


def split(
    input: HostLike = None,
    sep: TensorLike = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: HostLike = None,
    name: str | None = None,
) -> Any:
    """Takes texts apart at a separator; see `tf.strings.split`.

    Args:
        input: texts.
        sep: the separator; None means spaces.
        maxsplit: how often to split at most; -1 for no limit.
        result_type: `"SparseTensor"` or `"RaggedTensor"`.
        source: another name of `input`.

    Raises:
        ValueError: it is another type.

    Source: `tf.compat.v1.strings.split`.
    """
    return _typed(splitter(sep, maxsplit), source if input is None else input, result_type)


def string_split(
    source: HostLike,
    sep: TensorLike = None,
    skip_empty: bool = True,
    delimiter: TensorLike = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> Any:
    """Takes texts apart at each of several characters.

    Args:
        source: a vector of texts.
        sep: the characters; None means a space, the empty text takes each byte by itself.
        skip_empty: whether to leave empty parts out.
        delimiter: another name of `sep`.
        result_type: `"SparseTensor"` or `"RaggedTensor"`.

    Raises:
        ValueError: `source` is no vector, or it is another type.

    Source: `tf.compat.v1.string_split`.
    """
    if np.ndim(source) != 1:
        raise ValueError(f"string_split: source must be a vector, got shape {np.shape(source)}.")
    given = delimiter if sep is None else sep
    marks = set(b" " if given is None else text_array(given, "string_split: sep")[()])

    def parts(text: bytes) -> list[bytes]:
        if not marks:
            return [text[at : at + 1] for at in range(len(text))]
        ends = [at for at, byte in enumerate(text) if byte in marks]
        starts = [0, *(end + 1 for end in ends)]
        found = [text[a:b] for a, b in zip(starts, [*ends, len(text)], strict=True)]
        return [part for part in found if part or not skip_empty]

    return _typed(parts, source, result_type)


def length(input: HostLike, name: str | None = None, unit: str = "BYTE") -> Any:
    """Counts bytes, or characters of UTF-8; see `tf.strings.length`.

    Source: `tf.compat.v1.strings.length`.
    """
    return letters.length(input, unit)


def substr(
    input: HostLike, pos: TensorLike, len: TensorLike, name: str | None = None, unit: str = "BYTE"
) -> Any:
    """Takes parts of texts; see `tf.strings.substr`.

    Source: `tf.compat.v1.substr`.
    """
    return letters.substr(input, pos, len, unit)


def reduce_join(
    inputs: HostLike,
    axis: Axis = None,
    keep_dims: bool | None = None,
    separator: str | bytes = "",
    name: str | None = None,
    reduction_indices: Axis = None,
    keepdims: bool | None = None,
) -> Any:
    """Joins the texts along dimensions; see `tf.strings.reduce_join`.

    Source: `tf.compat.v1.reduce_join`.
    """
    axes = reduction_indices if axis is None else axis
    return joining.reduce_join(inputs, axes, bool(keep_dims or keepdims), separator)


def to_hash_bucket(
    string_tensor: HostLike = None,
    num_buckets: int | None = None,
    name: str | None = None,
    input: HostLike = None,
) -> Any:
    """Gives texts to buckets; see `tf.strings.to_hash_bucket`.

    Source: `tf.compat.v1.string_to_hash_bucket`.
    """
    return hashing.to_hash_bucket(string_tensor if input is None else input, num_buckets or 0)


def to_number(
    string_tensor: HostLike = None,
    out_type: DTypeLike = "float32",
    name: str | None = None,
    input: HostLike = None,
) -> Any:
    """Reads numbers; see `tf.strings.to_number`.

    Source: `tf.compat.v1.string_to_number`.
    """
    return numbers.to_number(string_tensor if input is None else input, out_type)


def _typed(parts: Callable[[bytes], list[bytes]], source: HostLike, result_type: str) -> Any:
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError(f"result_type must be SparseTensor or RaggedTensor, got {result_type!r}.")
    given = source if isinstance(source, RaggedTensor) else text_array(source, "split: input")
    if not isinstance(given, RaggedTensor) and not given.ndim:
        given = np.array([given[()]], object)
    found = in_parts(parts, given, "split: input")
    return found.to_sparse() if result_type == "SparseTensor" else found


__getattr__, __dir__ = attributes(
    "tf.compat.v1.strings", defined_in(__name__), rest="frontends.tf.strings"
)
