"""What a feature column is, and what it reads and gives.

A *column* says how a model sees a feature of a batch. A *dense* column gives numbers, `[batch, *variable_shape]`. A
*categorical* one gives `Ids`: for each row, which of its buckets the row is in. A column with an embedding asks for its
variable through a `MakeVariable`, which the caller gives it, and so decides on the variable's full name.
"""

import abc
import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from frontends.tf._typing import ShapeLike, VariableLike
from frontends.tf.feature_column.parsing import ParseSpec
from frontends.tf.feature_column.texts import Texts, prepare
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.tensor_shape import TensorShape
from spmd.replica import HostPerReplica, current_frame


@dataclasses.dataclass(frozen=True)
class Ids:
    """Which buckets each row is in: TensorFlow's sparse tensors of ids and weights, padded.

    Attributes:
        values: numbers of buckets, int32 of shape `[batch, ..., size]`; -1 for what has no bucket.
        present: which values exist, bool; the others are padding. A value of -1 may exist: crosses count it.
        weights: of the values, float32; None means 1.
    """

    values: jax.Array
    present: jax.Array
    weights: jax.Array | None = None

    @property
    def valid(self) -> jax.Array:
        """Which values are buckets."""
        return self.present & (self.values >= 0)

    def flat(self) -> "Ids":
        """Returns them as `[batch, size]`."""

        def flat(array: jax.Array) -> jax.Array:
            return array.reshape(array.shape[0], -1)

        weights = None if self.weights is None else flat(self.weights)
        return Ids(flat(self.values), flat(self.present), weights)


class MakeVariable(Protocol):
    """Makes a variable of a column, or finds it.

    Source: `StateManager.create_variable` of TensorFlow.
    """

    def __call__(
        self,
        column: "FeatureColumn",
        name: str,
        shape: ShapeLike,
        initializer: Callable[..., Any],
        trainable: bool,
    ) -> VariableLike:
        """Returns the variable of a column that has a name."""
        ...


class Features:
    """The features of a batch, by key."""

    def __init__(self, features: Mapping[str, Any]) -> None:
        """Wraps them."""
        self._features = features

    def get(self, key: str) -> Any:
        """Returns a feature, an array or `Texts`, with at least two axes.

        Raises:
            TypeError: it is sparse, or holds texts that a compiled step was not prepared for.
            ValueError: there is none of that key; or it has no rows.
        """
        if key not in self._features:
            raise ValueError(
                f"Feature {key} is not in features dictionary. It has {sorted(map(str, self._features))}: return it from "
                "input_fn, or leave the column out."
            )
        found = _as_feature(key, self._features[key])
        if found.ndim == 0:
            raise ValueError(
                f"Feature (key: {key}) cannot have rank 0. Given: {found}. Batch the dataset: dataset.batch(size)."
            )
        return found.reshape((*found.shape, 1)) if found.ndim == 1 else found


def _as_feature(key: str, value: Any) -> Any:
    if hasattr(value, "dense_shape") or hasattr(value, "indptr") or hasattr(value, "nse"):
        raise TypeError(
            f"Feature (key: {key}) is sparse, {type(value).__name__}, but XLA needs dense arrays. Pad its rows to one length, "
            "with '' where it holds texts and -1 where it holds integers: columns leave these out."
        )
    if isinstance(value, HostPerReplica):
        if current_frame() is not None or value.num_replicas > 1:
            raise TypeError(
                f"Feature (key: {key}) is in host memory, where texts stay, and a compiled step does not get it. Have the dataset "
                "prepare them, before it is distributed: dataset.map(tf.feature_column.prepare)."
            )
        value = value.values[0]
    if isinstance(value, Texts):
        return value
    value = prepare(convert_to_tensor(value))
    return value if isinstance(value, Texts) else jnp.asarray(value)


class FeatureColumn(abc.ABC):
    """How a model sees a feature.

    Source: `tf.__internal__.feature_column.FeatureColumn`.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """Unique among the columns of a model; columns are sorted by it."""

    @property
    @abc.abstractmethod
    def parse_example_spec(self) -> ParseSpec:
        """What has to be read for it, by key."""


class DenseColumn(FeatureColumn):
    """A column that gives numbers.

    Source: `tf.__internal__.feature_column.DenseColumn`.
    """

    @property
    @abc.abstractmethod
    def variable_shape(self) -> TensorShape:
        """Shape of a row."""

    @abc.abstractmethod
    def dense(self, features: Features, make_variable: MakeVariable) -> jax.Array:
        """Returns the rows, float32."""

    @property
    def scope_name(self) -> str:
        """What is before the names of its variables."""
        return self.name

    @property
    def size(self) -> int:
        """How many numbers a row has."""
        return self.variable_shape.num_elements() or 0  # pyright: ignore[reportArgumentType]

    def flat(self, features: Features, make_variable: MakeVariable) -> jax.Array:
        """Returns the rows as vectors.

        Raises:
            ValueError: the feature has another size than the column.
        """
        rows = self.dense(features, make_variable)
        if math.prod(rows.shape[1:]) != self.size:
            raise ValueError(
                f"The column {self.name} expects rows of the shape {tuple(self.variable_shape)}, but the feature has "
                f"rows of the shape {rows.shape[1:]}. Give the column that shape: numeric_column(key, "
                f"shape={rows.shape[1:]})."
            )
        return rows.reshape(rows.shape[0], self.size)


class CategoricalColumn(FeatureColumn):
    """A column that gives buckets.

    Source: `tf.__internal__.feature_column.CategoricalColumn`.
    """

    @property
    @abc.abstractmethod
    def num_buckets(self) -> int:
        """How many there are."""

    @abc.abstractmethod
    def ids(self, features: Features) -> Ids:
        """Returns the rows' buckets."""


def normalized(columns: Any) -> list[FeatureColumn]:
    """Lists columns, sorted by name.

    Args:
        columns: a column, or several.

    Raises:
        ValueError: there are none, something else is among them, or two have the same name.
    """
    if isinstance(columns, Mapping):
        raise ValueError(
            "Expected feature_columns to be iterable, found dict. Pass its values: list(feature_columns.values())."
        )
    found: Iterable[Any] = [columns] if isinstance(columns, FeatureColumn) else list(columns)
    by_name: dict[str, FeatureColumn] = {}
    for column in found:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                f"Items of feature_columns must be a FeatureColumn. Given (type {type(column)}): {column}. Make one: "
                "tf.feature_column.numeric_column(key)."
            )
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and {by_name[column.name]}. This usually means "
                "that these columns refer to same base feature. Leave one out, or give the feature another key as well."
            )
        by_name[column.name] = column
    if not by_name:
        raise ValueError("feature_columns must not be empty.")
    return [by_name[name] for name in sorted(by_name)]


def dense_columns(columns: Any) -> list[DenseColumn]:
    """Lists columns as `normalized` does.

    Raises:
        ValueError: one is categorical only; or as for `normalized`.
    """
    return list(_dense(normalized(columns)))


def _dense(columns: Iterable[FeatureColumn]) -> Iterator[DenseColumn]:
    for column in columns:
        if not isinstance(column, DenseColumn):
            raise ValueError(
                "Items of feature_columns must be a DenseColumn. You can wrap a categorical column with an embedding_column or "
                f"indicator_column: tf.feature_column.indicator_column(column). Given: {column}."
            )
        yield column


def check_key(key: object) -> None:
    """Checks a feature's key.

    Raises:
        ValueError: it is no text.
    """
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")
