"""`tf.tpu.experimental.embedding.serving_embedding_lookup`: features become rows of tables."""

import math
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf import nest
from frontends.tf._typing import HostLike, Nested, VariableLike
from frontends.tf.nn import embedding_lookup
from frontends.tf.ops.convert import is_tensor
from frontends.tf.ragged import RaggedTensor
from frontends.tf.sparse import SparseTensor
from frontends.tf.sparse.products import embedding_lookup_sparse, safe_embedding_lookup_sparse
from frontends.tf.tpu.experimental.embedding.configs import FeatureConfig, TableConfig


def serving_embedding_lookup(
    inputs: Nested,
    weights: Nested | None,
    tables: Mapping[TableConfig, VariableLike],
    feature_config: Nested,
) -> Any:
    """Looks features up in the tables of their configurations.

    Args:
        inputs: a structure of arrays of ids, `tf.SparseTensor`s and `tf.RaggedTensor`s.
        weights: of the ids that are not dense, in the same structure, with None for no weights; or None.
        tables: the variables, by configuration.
        feature_config: a structure of `FeatureConfig`s, which has the keys of `inputs`.

    Returns:
        The structure of `inputs`: for an array, the rows of its ids; otherwise for each row of ids their rows combined, or
        of a sequence feature, shape (rows, `max_sequence_length`, `dim`).

    What differs here: a step gets sparse and ragged features as padded arrays. Look those up with
    `tf.nn.safe_embedding_lookup_sparse`.

    Raises:
        ValueError: a feature is not configured, or its ids or weights are not as configured.

    Source: `tf.tpu.experimental.embedding.serving_embedding_lookup`.
    """
    features = {_named(path): one for path, one in nest.flatten_with_paths(feature_config)}
    given = [(_named(path), one) for path, one in nest.flatten_with_paths(inputs)]
    if not {path for path, _ in given} <= set(features):
        raise ValueError(
            f"Inputs are not a subset of feature_config. Inputs keys are {sorted(path for path, _ in given)}, but "
            f"feature_config keys are {sorted(features)}"
        )
    if weights is not None:
        nest.assert_same_structure(inputs, weights)
    by_input = [None] * len(given) if weights is None else nest.flatten(weights)
    outputs = [
        _looked_up(path, ids, weight, tables[features[path].table], features[path])
        for (path, ids), weight in zip(given, by_input, strict=True)
    ]
    return nest.pack_sequence_as(inputs, outputs)


def _named(path: tuple[Any, ...]) -> str:
    return "/".join(map(str, path))


def _looked_up(
    path: str, ids: HostLike, weight: HostLike, table: VariableLike, feature: FeatureConfig
) -> jax.Array:
    is_dense = not isinstance(ids, SparseTensor | RaggedTensor)
    is_sequence = feature.max_sequence_length > 0
    if is_dense and not is_tensor(ids) and not isinstance(ids, np.ndarray):
        raise ValueError(
            f"Input {path} is type {type(ids)}. Tensor, SparseTensor or RaggedTensor expected."
        )
    if weight is not None and is_dense:
        raise ValueError(f"Weight specified for {path}, but input is dense.")
    if weight is not None and type(weight) is not type(ids):
        raise ValueError(
            f"Weight for {path} is of type {type(weight)} but it does not match type of the input which is {type(ids)}."
        )
    if weight is not None and is_sequence:
        raise ValueError(f"Weight specified for {path}, but this is a sequence feature.")
    if isinstance(ids, RaggedTensor):
        return _of_ragged(ids, weight, table, feature)
    if isinstance(ids, SparseTensor):
        return _of_sparse(ids, weight, table, feature)
    if is_sequence:
        raise ValueError(f"Feature {path} is a sequence feature but a dense tensor was passed.")
    return embedding_lookup(table, ids)


def _of_sparse(
    ids: SparseTensor, weight: HostLike, table: VariableLike, feature: FeatureConfig
) -> jax.Array:
    length = feature.max_sequence_length
    if length and ids.ndim == 2 and feature.output_shape.rank is None:
        padded = np.full((ids.row_count, length), -1)
        places, values = np.asarray(ids.indices), np.asarray(ids.values)
        kept = places[:, 1] < length
        padded[tuple(places[kept].T)] = values[kept]
        return _rows(table, padded)
    look_up = (
        safe_embedding_lookup_sparse
        if feature.validate_weights_and_indices or ids.ndim > 2
        else embedding_lookup_sparse
    )
    return look_up(table, ids, weight, combiner=feature.table.combiner)


def _of_ragged(
    ids: RaggedTensor, weight: HostLike, table: VariableLike, feature: FeatureConfig
) -> jax.Array:
    if ids.shape.rank != 2:
        raise ValueError(f"Only rank 2 ragged tensor is supported, but got rank {ids.shape.rank}")
    count, dim = ids.row_count, feature.table.dim
    if feature.output_shape.rank is None:
        if feature.max_sequence_length:
            return _rows(table, ids.to_tensor(-1, shape=[count, feature.max_sequence_length]))
        return _combined(table, ids, weight, feature.table.combiner)
    sizes = [size for size in feature.output_shape.as_list() if size is not None]
    wanted, shape = math.prod(sizes), (*sizes, dim)
    if wanted == count:
        return _combined(table, ids, weight, feature.table.combiner).reshape(shape)
    if wanted > count and wanted % count == 0:
        return _rows(table, ids.to_tensor(-1, shape=[count, wanted // count])).reshape(shape)
    raise ValueError(
        "Output shape set in the FeatureConfig should be the factor of the input data batch size. "
        f"But instead got output shape {feature.output_shape}, input data batch size {count}"
    )


def _rows(table: VariableLike, ids: HostLike) -> jax.Array:
    """Takes a row for each id, and zeros for what is padding: ids below zero."""
    places = jnp.asarray(ids)
    found = embedding_lookup(table, jnp.maximum(places, 0))
    return jnp.where((places >= 0)[..., None], found, 0)


def _combined(table: VariableLike, ids: RaggedTensor, weight: HostLike, combiner: str) -> jax.Array:
    found = _rows(table, ids.to_tensor(-1))
    if weight is None:
        weight = ids.with_flat_values(np.ones(len(np.asarray(ids.flat_values)), np.float32))
    factors = jnp.asarray(weight.to_tensor())[..., None]
    total = jnp.sum(found * factors, axis=1)
    if combiner == "sum":
        return total
    divisor = factors if combiner == "mean" else factors * factors
    divisor = jnp.sum(divisor, axis=1)
    divisor = divisor if combiner == "mean" else jnp.sqrt(divisor)
    return jnp.where(divisor == 0, 0, total / jnp.where(divisor == 0, 1, divisor))
