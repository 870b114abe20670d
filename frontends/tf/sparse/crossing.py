"""`tf.sparse.cross` and `tf.ragged.cross`: all combinations of the values of a row, as texts or as numbers of buckets."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frontends.tf._text_hashes import fingerprint
from frontends.tf._typing import HostLike
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.sparse.rows import sparse_of_rows
from frontends.tf.sparse.sparse_tensor import SparseTensor

_HASH_KEY = 0xDECAFCAFFE
_MULTIPLIER = 0xC6A4A7935BD1E995
_WORD = 2**64 - 1


def cross(
    inputs: Sequence[HostLike], name: str | None = None, separator: str | None = None
) -> SparseTensor:
    """Joins the values of each row, one of each input in a text.

    Args:
        inputs: sparse tensors, or dense matrices, of one number of rows; numbers or texts. The sparse ones come first
            in the texts.
        separator: between the values; None means `"_X_"`.

    Examples:
        >>> from frontends import tf
        >>> print(tf.sparse.to_dense(tf.sparse.cross([[["a", "b"]], [["c"]]])))
        [[b'a_X_c' b'b_X_c']]

    Source: `tf.sparse.cross`.
    """
    join = _joined(b"_X_" if separator is None else separator.encode())
    return _as_sparse([_products(row, join) for row in _rows(_sparse_first(inputs))], object)


def cross_hashed(
    inputs: Sequence[HostLike],
    num_buckets: int = 0,
    hash_key: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """Numbers the combinations of the values of each row by their hash.

    Args:
        inputs: as of `cross`.
        num_buckets: how many numbers there are; 0 means all of 63 bits.
        hash_key: another one gives other numbers.

    Source: `tf.sparse.cross_hashed`.
    """
    number = _hashed(num_buckets, hash_key)
    return _as_sparse([_products(row, number) for row in _rows(_sparse_first(inputs))], np.int64)


def ragged_cross(inputs: Sequence[HostLike], name: str | None = None) -> RaggedTensor:
    """Joins the values of each row, one of each input in a text, with `"_X_"`.

    Args:
        inputs: ragged or sparse tensors, or dense matrices, of one number of rows.

    Source: `tf.ragged.cross`.
    """
    join = _joined(b"_X_")
    return _as_ragged([_products(row, join) for row in _rows(inputs)], object)


def ragged_cross_hashed(
    inputs: Sequence[HostLike],
    num_buckets: int = 0,
    hash_key: int | None = None,
    name: str | None = None,
) -> RaggedTensor:
    """Numbers the combinations of the values of each row by their hash; see `tf.sparse.cross_hashed`.

    Source: `tf.ragged.cross_hashed`.
    """
    number = _hashed(num_buckets, hash_key)
    return _as_ragged([_products(row, number) for row in _rows(inputs)], np.int64)


def _sparse_first(inputs: Sequence[HostLike]) -> Sequence[HostLike]:
    """Puts sparse tensors before dense ones, as TensorFlow does."""
    if not isinstance(inputs, list | tuple):
        return inputs
    return sorted(inputs, key=lambda one: not isinstance(one, SparseTensor))


def _rows(inputs: Sequence[HostLike]) -> list[list[list[Any]]]:
    """Lists, for each row, the values of each input."""
    if not isinstance(inputs, list | tuple):
        raise TypeError(f"Inputs must be a list, got {type(inputs).__name__}.")
    parts = [_values(one) for one in inputs]
    if len({len(part) for part in parts}) != 1:
        raise ValueError(
            f"cross: expected inputs of one number of rows, got {[len(part) for part in parts]}."
        )
    return [list(row) for row in zip(*parts, strict=True)]


def _values(value: HostLike) -> list[list[Any]]:
    if isinstance(value, SparseTensor):
        rows: list[list[Any]] = [[] for _ in range(int(np.asarray(value.dense_shape)[0]))]
        for place, one in zip(np.asarray(value.indices), np.asarray(value.values), strict=True):
            rows[place[0]].append(_plain(one))
        return rows
    rows = value.to_list() if isinstance(value, RaggedTensor) else np.asarray(value).tolist()
    return [[_plain(one) for one in row] for row in rows]


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode()
    return bytes(value) if isinstance(value, bytes) else int(value)


def _products(row: list[list[Any]], combine: Callable[[tuple[Any, ...]], Any]) -> list[Any]:
    return [combine(values) for values in itertools.product(*row)]


def _joined(separator: bytes) -> Callable[[tuple[Any, ...]], bytes]:
    def join(values: tuple[Any, ...]) -> bytes:
        return separator.join(
            one if isinstance(one, bytes) else str(one).encode() for one in values
        )

    return join


def _hashed(buckets: int, key: int | None) -> Callable[[tuple[Any, ...]], int]:
    def number(values: tuple[Any, ...]) -> int:
        found = _HASH_KEY if key is None else key
        for one in values:
            found = _combined(found, fingerprint(one) if isinstance(one, bytes) else one & _WORD)
        return found % (buckets or 2**63 - 1)

    return number


def _combined(first: int, second: int) -> int:
    """Combines two fingerprints; `FingerprintCat64` of TensorFlow, in `platform/fingerprint.h`."""

    def mixed(value: int) -> int:
        return value ^ (value >> 47)

    found = first ^ _MULTIPLIER
    found ^= mixed(second * _MULTIPLIER & _WORD) * _MULTIPLIER & _WORD
    found = found * _MULTIPLIER & _WORD
    return mixed(mixed(found) * _MULTIPLIER & _WORD)


def _flat(rows: list[list[Any]], dtype: Any) -> np.ndarray:
    made = np.empty(sum(map(len, rows)), dtype)
    made[:] = [one for row in rows for one in row]
    return made


def _as_sparse(rows: list[list[Any]], dtype: Any) -> SparseTensor:
    return sparse_of_rows(_flat(rows, dtype), [len(row) for row in rows])


def _as_ragged(rows: list[list[Any]], dtype: Any) -> RaggedTensor:
    return RaggedTensor.from_row_lengths(_flat(rows, dtype), [len(row) for row in rows])
