"""`tf.io.parse_example` and `parse_single_example`: values out of serialized examples, on the host.

What a set of features asks for is worked out once, as a `Plan`: for each feature, what reads it from one example, and from
several.
"""

import abc
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from frontends.tf._typing import DTypeLike, TensorLike
from frontends.tf.data.host_tensors import as_tensors
from frontends.tf.dtypes import as_dtype
from frontends.tf.io import wire
from frontends.tf.io.blocks import Block, Values
from frontends.tf.io.features import (
    Features,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from frontends.tf.io.host_values import texts_of
from frontends.tf.ragged.ragged_tensor import RaggedTensor, stacked_rows
from frontends.tf.sparse.ops import reorder
from frontends.tf.sparse.rows import sparse_of_rows
from frontends.tf.sparse.sparse_tensor import SparseTensor

# An example: its bytes, and where the lists are in them.
Scanned = tuple[bytes, Mapping[bytes, wire.Span]]

_KINDS = {"string": wire.TEXTS, "float32": wire.FLOATS, "int64": wire.INTEGERS}
_TYPES = {wire.TEXTS: np.dtype(object), wire.FLOATS: np.dtype(np.float32)}
_READERS: dict[int, Callable[[bytes, int, int], Any]] = {
    wire.TEXTS: wire.texts,
    wire.FLOATS: wire.floats,
    wire.INTEGERS: wire.integers,
}


# So many examples are read one by one in less time than together.
_FEW = 8

_parsers: list[Callable[[Any, Features], dict[str, Any] | None]] = []


def register_parser(parse: Callable[[Any, Features], dict[str, Any] | None]) -> None:
    """Registers what reads a batch of examples that are no texts; it returns None of what it does not know."""
    _parsers.append(parse)


def parse_single_example(
    serialized: TensorLike,
    features: Features,
    example_names: TensorLike = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Reads an example.

    Args:
        serialized: one text, the serialized `tf.train.Example`.
        features: what to read, by key.
        example_names: accepted; not used.

    Returns:
        By key, arrays in host memory; `VarLenFeature` and `SparseFeature` give a `tf.SparseTensor`, and `RaggedFeature` a
        `tf.RaggedTensor`. Integers are int64 until a map function returns them.

    Raises:
        ValueError: it is no example, or a feature is missing, of another type or another size.

    Examples:
        >>> from frontends import tf
        >>> ids = tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 4]))
        >>> example = tf.train.Example(features=tf.train.Features(feature={"ids": ids}))
        >>> spec = {"ids": tf.io.FixedLenFeature([2], tf.int64)}
        >>> tf.io.parse_single_example(example.SerializeToString(), spec)
        {'ids': array([3, 4])}

    Source: `tf.io.parse_single_example`.
    """
    texts, shape = texts_of(serialized, "parse_single_example: serialized")
    if shape:
        raise ValueError(
            f"parse_single_example: Input serialized must be a scalar, got shape {shape}.\n"
            "Fix: tf.io.parse_example(serialized, features) reads a batch."
        )
    return plan_of(features).single(texts[0])


def parse_example(
    serialized: TensorLike,
    features: Features,
    example_names: TensorLike = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Reads a batch of examples.

    Args:
        serialized: texts, of shape `[examples]`, as `dataset.batch(n)` makes them.
        features: what to read, by key.
        example_names: accepted; not used.

    Returns:
        As `parse_single_example`, with a first axis for the examples. Of a placeholder, which a `serving_input_receiver_fn`
        makes: placeholders of the values, `VarLenFeature`s padded to the longest.

    Raises:
        ValueError: as of `parse_single_example`.

    Source: `tf.io.parse_example`.
    """
    for parse in _parsers:
        if (parsed := parse(serialized, features)) is not None:
            return parsed
    texts, shape = texts_of(serialized, "parse_example: serialized")
    if len(shape) > 1:
        raise ValueError(
            f"parse_example: serialized must have shape [examples], got {shape}.\n"
            "Fix: reshape it, or parse before batch()."
        )
    plan = plan_of(features)
    return plan.batch(texts) if shape else plan.single(texts[0])


class Reader(abc.ABC):
    """Reads a feature."""

    @abc.abstractmethod
    def one(self, example: Scanned) -> Any:
        """Returns the feature of an example."""

    @abc.abstractmethod
    def many(self, examples: Sequence[Scanned]) -> Any:
        """Returns the features of several examples."""

    def of_block(self, block: Block) -> Any:
        """Returns the features of examples that are alike; None if they have to be read one by one."""
        return None


class _Lists:
    """Reads the list under a key, whatever its length."""

    def __init__(self, key: str, dtype: DTypeLike) -> None:
        self.key = key
        self._bytes = key.encode()
        self.type_name = as_dtype(dtype).name
        kind = _KINDS.get(self.type_name)
        if kind is None:
            raise ValueError(
                f"Feature {key}: examples hold tf.float32, tf.int64 and tf.string, not {self.type_name}.\n"
                f"Fix: read one of these, then tf.cast(parsed[{key!r}], tf.{self.type_name})."
            )
        self._kind = kind
        self._read = _READERS[kind]
        self.dtype = _TYPES.get(kind, np.dtype(np.int64))

    def values(self, example: Scanned) -> Any:
        """Returns an array, or a list of texts; None if there is none."""
        data, spans = example
        span = spans.get(self._bytes)
        if span is None:
            return None
        kind, start, stop = span
        if kind == self._kind:
            return self._read(data, start, stop)
        if kind == wire.NOTHING:
            return None
        raise ValueError(
            f"Key: {self.key}.  Data types don't match. Data type: {wire.KINDS[kind]} but expected type: "
            f"{wire.KINDS[self._kind]}.\nFix: the dtype in features[{self.key!r}]"
        )

    def of_block(self, block: Block) -> Values | None:
        """Returns the values of several examples; None if they have to be read one by one."""
        found = block.values(self._bytes, self._kind)
        if found is None or self._kind != wire.TEXTS:
            return found
        return found._replace(flat=objects(found.flat))

    def array(self, example: Scanned) -> np.ndarray:
        """Returns an array; an empty one if there is none."""
        values = self.values(example)
        return np.empty(0, self.dtype) if values is None else self.as_array(values)

    def as_array(self, values: Any) -> np.ndarray:
        """Returns what `values` returns as an array."""
        return objects(values) if isinstance(values, list) else values


class _Fixed(Reader):
    """Reads a `FixedLenFeature`."""

    def __init__(self, key: str, spec: FixedLenFeature) -> None:
        self._lists = _Lists(key, spec.dtype)
        self._shape = _static_shape(key, spec.shape)
        self._count = math.prod(self._shape)
        self._default = None
        if spec.default_value is not None:
            self._default = _default(key, spec.default_value, self._lists.dtype, self._shape)

    def one(self, example: Scanned) -> Any:
        values = self._lists.values(example)
        if values is None:
            return self._missing()
        if len(values) != self._count:
            raise self._size_error(len(values))
        if not self._shape:
            return values[0]
        return self._lists.as_array(values).reshape(self._shape)

    def many(self, examples: Sequence[Scanned]) -> Any:
        result = np.empty((len(examples), *self._shape), self._lists.dtype)
        if self._shape:
            for row, example in enumerate(examples):
                values = self._lists.values(example)
                if values is None or len(values) != self._count:
                    values = self.one(example)
                elif len(self._shape) > 1:
                    values = self._lists.as_array(values).reshape(self._shape)
                result[row] = values
        else:
            result[:] = [self.one(example) for example in examples]
        return result

    def of_block(self, block: Block) -> Any:
        values = self._lists.of_block(block)
        if values is None or (values.lengths != self._count).any():
            return None
        return values.flat.reshape(-1, *self._shape)

    def _missing(self) -> Any:
        if self._default is None:
            key, kind = self._lists.key, self._lists.type_name
            raise ValueError(
                f"Feature: {key} (data type: {kind}) is required but could not be found.\n"
                f"Fix: the key, or a default_value in features[{key!r}]."
            )
        return self._default if self._shape else self._default[()]

    def _size_error(self, count: int) -> ValueError:
        key, kind = self._lists.key, self._lists.type_name
        return ValueError(
            f"Key: {key}.  Number of {kind} values != expected.  values size: {count} but output shape: "
            f"{list(self._shape)}.\nFix: the shape in features[{key!r}], or tf.io.VarLenFeature if sizes vary."
        )


class _Sequences(Reader):
    """Reads a `FixedLenSequenceFeature` of an example."""

    def __init__(self, key: str, spec: FixedLenSequenceFeature) -> None:
        if not spec.allow_missing:
            raise ValueError(
                f"Unsupported: FixedLenSequenceFeature requires allow_missing to be True (feature {key}).\n"
                "Fix: tf.io.FixedLenSequenceFeature(shape, dtype, allow_missing=True)"
            )
        self._lists = _Lists(key, spec.dtype)
        self._shape = _static_shape(key, spec.shape)
        self._count = math.prod(self._shape)
        self._padding = _padding(key, spec.default_value, self._lists.dtype)

    def one(self, example: Scanned) -> Any:
        values = self._lists.array(example)
        if not self._count or len(values) % self._count:
            raise ValueError(
                f"Key: {self._lists.key}.  Number of {self._lists.type_name} values is not a multiple of stride length. "
                f"Saw {len(values)} values but output shape is: {[None, *self._shape]}."
            )
        return values.reshape(-1, *self._shape)

    def many(self, examples: Sequence[Scanned]) -> Any:
        return padded([self.one(example) for example in examples], self._shape, self._padding)

    def of_block(self, block: Block) -> Any:
        values = self._lists.of_block(block)
        if values is None or self._shape:
            return None
        lengths = values.lengths
        found = np.full((len(lengths), lengths.max(initial=0)), self._padding, self._lists.dtype)
        found[np.arange(found.shape[1]) < lengths[:, None]] = values.flat
        return found


class _Variable(Reader):
    """Reads a `VarLenFeature`."""

    def __init__(self, key: str, spec: VarLenFeature) -> None:
        self._lists = _Lists(key, spec.dtype)

    def one(self, example: Scanned) -> Any:
        values = self._lists.array(example)
        return SparseTensor(np.arange(len(values))[:, None], values, [len(values)])

    def many(self, examples: Sequence[Scanned]) -> Any:
        return sparse_rows([self._lists.array(example) for example in examples], self._lists.dtype)

    def of_block(self, block: Block) -> Any:
        values = self._lists.of_block(block)
        return None if values is None else sparse_of_rows(*values)


class _Sparse(Reader):
    """Reads a `SparseFeature`."""

    def __init__(self, key: str, spec: SparseFeature) -> None:
        self._key = key
        given = spec.index_key
        keys, sizes = ([given], [spec.size]) if isinstance(given, str) else (given, list(spec.size))
        if len(keys) != len(sizes):
            raise ValueError(
                f"SparseFeature {key}: {len(keys)} index keys need as many sizes, got {len(sizes)}.\n"
                "Fix: size=[size of each dimension]"
            )
        self._values = _Lists(spec.value_key, spec.dtype)
        self._indices = [_Lists(one, np.int64) for one in keys]
        self._sizes = [int(one) for one in sizes]
        self._sorted = spec.already_sorted

    def one(self, example: Scanned) -> Any:
        indices, values = self._read(example)
        return self._made(indices, values, self._sizes)

    def many(self, examples: Sequence[Scanned]) -> Any:
        parts = [self._read(example) for example in examples]
        numbers = np.repeat(np.arange(len(parts)), [len(values) for _, values in parts])
        indices = np.concatenate(
            [np.empty((0, len(self._sizes)), np.int64), *(i for i, _ in parts)]
        )
        values = np.concatenate([np.empty(0, self._values.dtype), *(v for _, v in parts)])
        where = np.concatenate([numbers[:, None], indices], axis=1)
        return self._made(where, values, [len(parts), *self._sizes])

    def _read(self, example: Scanned) -> tuple[np.ndarray, np.ndarray]:
        values = self._values.array(example)
        columns = [one.array(example) for one in self._indices]
        if any(len(column) != len(values) for column in columns):
            raise ValueError(
                f"SparseFeature {self._key}: {len(values)} values have {[len(column) for column in columns]} indices."
            )
        return np.stack(columns, axis=1), values

    def _made(self, where: np.ndarray, values: np.ndarray, shape: list[int]) -> SparseTensor:
        sparse = SparseTensor(where, values, shape)
        return sparse if self._sorted else reorder(sparse)


class _Ragged(Reader):
    """Reads a `RaggedFeature`."""

    def __init__(self, key: str, spec: RaggedFeature) -> None:
        self._lists = _Lists(spec.value_key or key, spec.dtype)
        self._partitions = [
            (
                type(one).__name__,
                one.length if hasattr(one, "length") else _Lists(one.key, np.int64),
            )
            for one in reversed(tuple(spec.partitions))
        ]
        self._validate = spec.validate

    def one(self, example: Scanned) -> Any:
        made: Any = self._lists.array(example)
        for kind, given in self._partitions:
            argument = given.array(example) if isinstance(given, _Lists) else given
            made = _DIVIDED[kind](made, argument, validate=self._validate)
        return made

    def many(self, examples: Sequence[Scanned]) -> Any:
        found = [self.one(example) for example in examples]
        if not found:
            return RaggedTensor.from_row_lengths(np.empty(0, self._lists.dtype), [])
        return found[0].stacked(found[1:]) if self._partitions else stacked_rows(found)

    def of_block(self, block: Block) -> Any:
        values = None if self._partitions else self._lists.of_block(block)
        return None if values is None else RaggedTensor.from_row_lengths(*values)


_DIVIDED: dict[str, Callable[..., Any]] = {
    "_RowSplits": RaggedTensor.from_row_splits,
    "_RowLengths": RaggedTensor.from_row_lengths,
    "_RowStarts": RaggedTensor.from_row_starts,
    "_RowLimits": RaggedTensor.from_row_limits,
    "_ValueRowIds": RaggedTensor.from_value_rowids,
    "_UniformRowLength": RaggedTensor.from_uniform_row_length,
}


class Plan:
    """What to read from examples.

    Args:
        features: by key.
    """

    def __init__(self, features: Features) -> None:
        self._readers = {key: _reader(key, features[key]) for key in sorted(features)}

    def single(self, data: bytes) -> dict[str, Any]:
        """Reads an example."""
        example = wire.scan(data)
        return as_tensors({key: reader.one(example) for key, reader in self._readers.items()})

    def batch(self, datas: Sequence[bytes]) -> dict[str, Any]:
        """Reads several examples."""
        block = Block.of(datas) if len(datas) >= _FEW else None
        scanned: list[Scanned] = []
        found: dict[str, Any] = {}
        for key, reader in self._readers.items():
            values = None if block is None else reader.of_block(block)
            if values is None:
                scanned = scanned or [wire.scan(data) for data in datas]
                values = reader.many(scanned)
            found[key] = values
        return as_tensors(found)


def plan_of(features: Features) -> Plan:
    """Returns the plan for some features, which is made once.

    Raises:
        ValueError: there are none, or they ask for what examples cannot have.
    """
    if not features:
        raise ValueError(
            "Missing: features was empty.\nFix: features={key: tf.io.FixedLenFeature(shape, dtype)}"
        )
    try:
        return _plan(tuple([(key, type(one), *map(_key, one)) for key, one in features.items()]))
    except TypeError:  # what cannot be a key of a dict
        return Plan(features)


@functools.lru_cache(maxsize=128)
def _plan(items: tuple[Any, ...]) -> Plan:
    return Plan({key: kind(*values) for key, kind, *values in items})


def _key(value: Any) -> Any:
    return tuple(map(_key, value)) if type(value) is list else value


def _reader(key: str, spec: Any) -> Reader:
    match spec:
        case FixedLenFeature():
            return _Fixed(key, spec)
        case FixedLenSequenceFeature():
            return _Sequences(key, spec)
        case VarLenFeature():
            return _Variable(key, spec)
        case SparseFeature():
            return _Sparse(key, spec)
        case RaggedFeature():
            return _Ragged(key, spec)
    raise ValueError(
        f"Invalid feature {key}:{spec!r:.80}.\nFix: features[{key!r}] = tf.io.FixedLenFeature(shape, dtype)"
    )


def objects(values: Sequence[bytes]) -> np.ndarray:
    """Makes an array of texts."""
    array = np.empty(len(values), object)
    array[:] = values
    return array


def padded(rows: Sequence[np.ndarray], shape: tuple[int, ...], padding: Any) -> np.ndarray:
    """Stacks arrays of different lengths, padded to the longest.

    Args:
        rows: of shape `[length, *shape]`.
        shape: of an entry.
        padding: what to pad with.
    """
    longest = max(map(len, rows), default=0)
    result = np.full((len(rows), longest, *shape), padding, rows[0].dtype if len(rows) else None)
    for number, row in enumerate(rows):
        result[number, : len(row)] = row
    return result


def sparse_rows(rows: Sequence[np.ndarray], dtype: np.dtype) -> SparseTensor:
    """Makes a sparse tensor of rows of different lengths."""
    flat = np.concatenate([np.empty(0, dtype), *rows])
    return sparse_of_rows(flat, [len(row) for row in rows])


def _padding(key: str, value: Any, dtype: np.dtype) -> Any:
    if value is None:
        return b"" if dtype.kind == "O" else dtype.type(0)
    return _default(key, value, dtype, ())[()]


def _static_shape(key: str, shape: Any) -> tuple[int, ...]:
    try:
        given = list(
            shape.as_list() if hasattr(shape, "as_list") else np.atleast_1d(shape).tolist()
        )
        sizes = tuple(int(size) for size in given)
    except TypeError:
        raise ValueError(
            f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature.\n"
            f"Fix: tf.io.FixedLenSequenceFeature([], dtype, allow_missing=True) for {key!r}, got shape={shape!r}"
        ) from None
    return sizes


def _default(key: str, value: Any, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(value, None if dtype.kind == "O" else dtype)
    if dtype.kind == "O":
        texts, _ = texts_of(value, f"default_value of {key}")
        array = objects(texts)
    if array.size != math.prod(shape):
        raise ValueError(
            f"Feature {key}: default_value must have shape {list(shape)}, got {array.size} values.\n"
            f"Fix: default_value=np.full({list(shape)}, value)"
        )
    return array.reshape(shape)
