"""`tf.io.parse_single_sequence_example` and `parse_sequence_example`: lists of features, such as the frames of a video."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.dtypes import as_dtype
from frontends.tf.io.features import (
    Features,
    FixedLenSequenceFeature,
    RaggedFeature,
    VarLenFeature,
)
from frontends.tf.io.host_values import texts_of
from frontends.tf.io.parsing import objects, padded, plan_of
from frontends.tf.sparse.sparse_tensor import SparseTensor

_LISTS = {"string": "bytes_list", "float32": "float_list", "int64": "int64_list"}
_TYPES = {"string": np.dtype(object), "float32": np.dtype(np.float32), "int64": np.dtype(np.int64)}


def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: Features | None = None,
    sequence_features: Features | None = None,
    example_name: TensorLike = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Reads a sequence example.

    Args:
        serialized: one text, the serialized `tf.train.SequenceExample`.
        context_features: what to read of the context, by key; as of `parse_single_example`.
        sequence_features: what to read of the lists, by key: `FixedLenSequenceFeature` or `VarLenFeature`.
        example_name: accepted; not used.

    Returns:
        Two dicts: the context's values, and the lists', which have a first axis for the steps.

    Raises:
        ValueError: it is no sequence example, or a list is missing, of another type or size.

    Source: `tf.io.parse_single_sequence_example`.
    """
    texts, shape = texts_of(serialized, "parse_single_sequence_example: serialized")
    if shape:
        raise ValueError(
            f"parse_single_sequence_example: expected one text, got shape {list(shape)}.\n"
            "Fix: tf.io.parse_sequence_example reads a batch"
        )
    _check_given(context_features, sequence_features)
    message = _message(texts[0])
    context = plan_of(context_features).single(_context(message)) if context_features else {}
    readers = _readers(sequence_features)
    return context, as_tensors({key: reader.one(message) for key, reader in readers.items()})


def parse_sequence_example(
    serialized: TensorLike,
    context_features: Features | None = None,
    sequence_features: Features | None = None,
    example_names: TensorLike = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Reads a batch of sequence examples; see `parse_single_sequence_example`.

    Returns:
        Three dicts: the context's values; the lists', padded to the longest; and by key of a `FixedLenSequenceFeature` how
        many steps each example has.

    Raises:
        ValueError: as of `parse_single_sequence_example`.

    Source: `tf.io.parse_sequence_example`.
    """
    texts, shape = texts_of(serialized, "parse_sequence_example: serialized")
    if len(shape) != 1:
        raise ValueError(
            f"parse_sequence_example: serialized must have shape [examples], got {list(shape)}."
        )
    _check_given(context_features, sequence_features)
    messages = [_message(text) for text in texts]
    context = (
        plan_of(context_features).batch([_context(one) for one in messages])
        if context_features
        else {}
    )
    values: dict[str, Any] = {}
    lengths: dict[str, Any] = {}
    for key, reader in _readers(sequence_features).items():
        rows = [reader.one(message) for message in messages]
        values[key] = reader.batched(rows)
        if isinstance(reader, _Fixed):
            lengths[key] = np.array([len(row) for row in rows], np.int64)
    return context, as_tensors(values), as_tensors(lengths)


class _List:
    """Reads the lists of features under a key."""

    def __init__(self, key: str, dtype: Any) -> None:
        self.key = key
        kind = as_dtype(dtype).name
        if kind not in _LISTS:
            raise ValueError(
                f"Feature list {key}: examples hold tf.float32, tf.int64 and tf.string, not {kind}."
            )
        self.dtype, self._kind = _TYPES[kind], _LISTS[kind]

    def rows(self, message: Any) -> list[np.ndarray] | None:
        """Returns the values of each step; None if there is no such list."""
        lists = message.feature_lists.feature_list
        if self.key not in lists:
            return None
        return [self._row(feature, step) for step, feature in enumerate(lists[self.key].feature)]

    def _row(self, feature: Any, step: int) -> np.ndarray:
        kind = feature.WhichOneof("kind")
        if kind is None:
            return np.empty(0, self.dtype)
        if kind != self._kind:
            raise ValueError(
                f"Feature list: {self.key}, Index: {step}.  Data types don't match. Expected {self._kind} but got {kind}.\n"
                f"Fix: the dtype in sequence_features[{self.key!r}]"
            )
        values = getattr(feature, kind).value
        return objects(list(values)) if self.dtype == object else np.array(values, self.dtype)


class _Fixed:
    def __init__(self, key: str, spec: FixedLenSequenceFeature) -> None:
        self._list = _List(key, spec.dtype)
        self._allow_missing = spec.allow_missing
        self._shape = tuple(int(size) for size in np.atleast_1d(np.asarray(spec.shape, np.int64)))

    def one(self, message: Any) -> np.ndarray:
        rows = self._list.rows(message)
        key = self._list.key
        if rows is None:
            if not self._allow_missing:
                raise ValueError(
                    f"Feature list '{key}' is required but could not be found.\n"
                    "Fix: the key, or allow_missing=True"
                )
            rows = []
        count = math.prod(self._shape)
        for step, row in enumerate(rows):
            if len(row) != count:
                raise ValueError(
                    f"Feature list: {key}, Index: {step}.  Number of values != expected.  values size: {len(row)} but "
                    f"output shape: {list(self._shape)}.\nFix: the shape in sequence_features[{key!r}], or tf.io.VarLenFeature"
                )
        values = np.concatenate([np.empty(0, self._list.dtype), *rows])
        return values.reshape(len(rows), *self._shape)

    def batched(self, rows: Sequence[np.ndarray]) -> np.ndarray:
        zero = b"" if self._list.dtype == object else 0
        return padded(rows, self._shape, zero)


class _Variable:
    def __init__(self, key: str, spec: VarLenFeature) -> None:
        self._list = _List(key, spec.dtype)

    def one(self, message: Any) -> SparseTensor:
        rows = self._list.rows(message) or []
        lengths = [len(row) for row in rows]
        where = [(step, place) for step, length in enumerate(lengths) for place in range(length)]
        values = np.concatenate([np.empty(0, self._list.dtype), *rows])
        indices = np.array(where, np.int64).reshape(-1, 2)
        return SparseTensor(indices, values, [len(rows), max(lengths, default=0)])

    def batched(self, rows: Sequence[SparseTensor]) -> SparseTensor:
        if not rows:
            return SparseTensor(np.empty((0, 3)), np.empty(0, self._list.dtype), [0, 0, 0])
        return rows[0].stacked(rows[1:])


_KINDS: dict[type, Callable[[str, Any], Any]] = {
    FixedLenSequenceFeature: _Fixed,
    VarLenFeature: _Variable,
}


def _readers(features: Features | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, spec in sorted((features or {}).items()):
        if isinstance(spec, RaggedFeature):
            raise ValueError(
                f"Feature {key}: a RaggedFeature is for tf.io.parse_example; sequences have none here.\nFix: "
                "tf.io.FixedLenSequenceFeature([], dtype), which is padded to the longest, or tf.io.VarLenFeature(dtype)"
            )
        if type(spec) not in _KINDS:
            raise ValueError(
                f"Unsupported feature list {key}: {spec!r:.80}.\n"
                "Fix: tf.io.FixedLenSequenceFeature(shape, dtype), or tf.io.VarLenFeature(dtype)"
            )
        found[key] = _KINDS[type(spec)](key, spec)
    return found


def _check_given(context: Features | None, sequences: Features | None) -> None:
    if not (context or sequences):
        raise ValueError(
            "Missing features: neither context_features nor sequence_features was given."
        )


def _message(data: bytes) -> Any:
    from google.protobuf.message import DecodeError

    from frontends.tf.train.example import SequenceExample

    try:
        return SequenceExample.FromString(data)
    except DecodeError:
        raise ValueError(
            f"Could not parse example input, value: {data[:60]!r} is not a serialized tf.train.SequenceExample.\n"
            "Fix: tf.io.parse_single_example for a tf.train.Example"
        ) from None


def _context(message: Any) -> bytes:
    from frontends.tf.train.example import Example

    return Example(features=message.context).SerializeToString()
