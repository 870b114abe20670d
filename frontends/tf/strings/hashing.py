"""Buckets of texts, by TensorFlow's hashes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frontends.tf._text_hashes import fingerprints, murmurhash, siphash
from frontends.tf._typing import HostLike
from frontends.tf.data.host_arrays import (
    integers,
    shown,
    text_array,
)
from frontends.tf.feature_column import Texts
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.strings.mapping import on_each

_MOST_IN_PROGRAM = 2**31 - 1


def to_hash_bucket_fast(input: HostLike, num_buckets: int, name: str | None = None) -> Any:
    """Hashes texts into buckets by FarmHash's fingerprint, the same buckets as TensorFlow's.

    What differs here: texts of a batch in a model function or step, which are fingerprints, are given to buckets by the program.

    Args:
        input: texts.
        num_buckets: how many there are.

    Returns:
        int64, of the texts' shape; int32 in a program.

    Raises:
        ValueError: there is no bucket, or more than 2**31 - 1 in a program.

    Source: `tf.strings.to_hash_bucket_fast`.
    """
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(to_hash_bucket_fast(input.flat_values, num_buckets))
    count = _bucket_count(num_buckets, "to_hash_bucket_fast")
    if isinstance(input, Texts):
        if count > _MOST_IN_PROGRAM:
            raise ValueError(
                f"to_hash_bucket_fast: a program has at most {_MOST_IN_PROGRAM} buckets, got {count}. Give texts to more in a map "
                "of the dataset."
            )
        return input.buckets(count)
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
