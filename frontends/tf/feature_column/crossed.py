"""Several features together."""

import dataclasses
import functools
from collections.abc import Iterator, Sequence

import jax
import jax.numpy as jnp

from frontends.tf.dtypes import as_dtype
from frontends.tf.feature_column.categorical import HashedCategoricalColumn, check_bucket_size
from frontends.tf.feature_column.column import CategoricalColumn, Features, Ids
from frontends.tf.feature_column.fingerprints import combined
from frontends.tf.feature_column.parsing import ParseSpec, VarLenFeature
from frontends.tf.feature_column.texts import Texts
from frontends.tf.feature_column.uint64 import UInt64

_HASH_KEY = 0xDECAFCAFFE


@dataclasses.dataclass(frozen=True)
class CrossedColumn(CategoricalColumn):
    """See `crossed_column`."""

    keys: tuple["str | CategoricalColumn", ...]
    hash_bucket_size: int
    hash_key: int | None

    @property
    def name(self) -> str:
        """Those of what it crosses, sorted."""
        return "_X_".join(
            sorted(one if isinstance(one, str) else one.name for one in self._leaves())
        )

    @property
    def parse_example_spec(self) -> ParseSpec:
        """What all need."""
        found: ParseSpec = {}
        for key in self.keys:
            is_key = isinstance(key, str)
            found |= {key: VarLenFeature(as_dtype("string"))} if is_key else key.parse_example_spec
        return found

    @property
    def num_buckets(self) -> int:
        """As many as it was given."""
        return self.hash_bucket_size

    def _leaves(self) -> Iterator["str | CategoricalColumn"]:
        for key in self.keys:
            if isinstance(key, CrossedColumn):
                yield from key._leaves()
            else:
                yield key

    def ids(self, features: Features) -> Ids:
        """Returns the buckets of all combinations of a row's values."""
        leaves = list(self._leaves())
        # TensorFlow hashes what columns give, which is sparse, before features.
        parts = [_of_column(leaf, features) for leaf in leaves if not isinstance(leaf, str)]
        parts += [_of_feature(leaf, features) for leaf in leaves if isinstance(leaf, str)]
        key = _HASH_KEY if self.hash_key is None else self.hash_key
        return Ids(*_all_crossed(parts, key, self.hash_bucket_size))


_Part = tuple[UInt64, jnp.ndarray]


# Compiled as a whole, for code that runs op by op.
@functools.partial(jax.jit, static_argnums=(1, 2))
def _all_crossed(parts: list[_Part], key: int, count: int) -> tuple[jax.Array, jax.Array]:
    """Combines the values of all parts; returns their buckets, and which exist."""
    everywhere = jnp.ones((parts[0][1].shape[0], 1), bool)
    start = UInt64.constant(key), everywhere
    hashes, present = functools.reduce(_crossed, parts, start)
    return hashes % count, present


def _crossed(first: _Part, second: _Part) -> _Part:
    """Combines each value of a row with each of another part."""
    (left, left_present), (right, right_present) = first, second
    if left.low.ndim:
        left = UInt64(left.high[:, :, None], left.low[:, :, None])
    right = UInt64(right.high[:, None], right.low[:, None])
    hashes = combined(left, right)
    present = left_present[:, :, None] & right_present[:, None]
    rows = present.shape[0]
    return (
        UInt64(hashes.high.reshape(rows, -1), hashes.low.reshape(rows, -1)),
        present.reshape(rows, -1),
    )


def _of_column(column: CategoricalColumn, features: Features) -> _Part:
    ids = column.ids(features)
    if ids.weights is not None:
        raise ValueError(
            "crossed_column does not support weight_tensor, but the given column populates weight_tensor. "
            f"Given column: {column.name}. Cross the column without its weights."
        )
    _check_rank(column.name, ids.values.ndim)
    return UInt64.from_integers(ids.values), ids.present


def _of_feature(key: str, features: Features) -> _Part:
    found = features.get(key)
    _check_rank(key, found.ndim)
    everywhere = jnp.ones(found.shape, bool)  # empty texts count
    if isinstance(found, Texts):
        return found.fingerprints, everywhere
    if not as_dtype(found.dtype).is_integer:
        found = found.astype(jnp.int32)  # without its fraction
    return UInt64.from_integers(found), everywhere


def _check_rank(name: str, rank: int) -> None:
    if rank != 2:
        raise ValueError(
            f"crossed_column needs features of the shape [batch, size], but {name} has {rank} axes. Reshape it in a map of the "
            "dataset."
        )


def crossed_column(
    keys: "Sequence[str | CategoricalColumn]", hash_bucket_size: int, hash_key: int | None = None
) -> CrossedColumn:
    """Gives combinations of features to buckets by their hash values, which are TensorFlow's.

    Args:
        keys: of features of texts or numbers, which lose their fractions; or categorical columns, without those that hash.
        hash_bucket_size: number of buckets.
        hash_key: starts the hash; None takes TensorFlow's.

    Raises:
        ValueError: there are fewer than two keys, no buckets or more than 2**31 - 1, or a column that cannot be crossed.

    Source: `tf.feature_column.crossed_column`.
    """
    check_bucket_size(hash_bucket_size)
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, str | CategoricalColumn):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column except HashedCategoricalColumn. "
                f"Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will increase "
                f"probability of collision. Instead, use the feature name as a string: {key.key!r}. Given: {key}"
            )
    return CrossedColumn(tuple(keys), int(hash_bucket_size), hash_key)
