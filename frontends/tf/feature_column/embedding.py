"""Buckets as vectors that are trained: of one column, or shared by several."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax

from frontends.tf._typing import VariableLike
from frontends.tf.feature_column.column import (
    CategoricalColumn,
    DenseColumn,
    Features,
    MakeVariable,
)
from frontends.tf.feature_column.combining import check_combiner, combined_rows
from frontends.tf.feature_column.parsing import ParseSpec
from frontends.tf.feature_column.weighted import WeightedCategoricalColumn
from frontends.tf.tensor_shape import TensorShape


@dataclasses.dataclass(frozen=True)
class EmbeddingColumn(DenseColumn):
    """See `embedding_column` and `shared_embeddings`.

    Attributes:
        shared_name: of the variable that several columns have; None for one of its own.
    """

    categorical_column: CategoricalColumn
    dimension: int
    combiner: str
    initializer: Callable[..., Any] | None
    max_norm: float | None
    trainable: bool
    shared_name: str | None = None

    @property
    def name(self) -> str:
        """The column's, with `_embedding` or `_shared_embedding`."""
        kind = "embedding" if self.shared_name is None else "shared_embedding"
        return f"{self.categorical_column.name}_{kind}"

    @property
    def scope_name(self) -> str:
        """What is before the name of its variable."""
        return self.shared_name or self.name

    @property
    def parse_example_spec(self) -> ParseSpec:
        """That of the column."""
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self) -> TensorShape:
        """A vector."""
        return TensorShape((self.dimension,))

    def make_table(self, make_variable: MakeVariable) -> VariableLike:
        """Makes its variable, `[buckets, dimension]`, or finds it."""
        return make_variable(
            self,
            "embedding_weights",
            (self.categorical_column.num_buckets, self.dimension),
            self.initializer or self._truncated_normal(),
            self.trainable,
        )

    def dense(self, features: Features, make_variable: MakeVariable) -> jax.Array:
        """Returns the combined vectors of each row's buckets."""
        table, ids = self.make_table(make_variable), self.categorical_column.ids(features)
        return combined_rows(table, ids, self.combiner, self.max_norm)

    def _truncated_normal(self) -> Callable[..., Any]:
        from frontends.tf.compat.v1.initializers import TruncatedNormal  # imports feature columns

        return TruncatedNormal(0.0, 1 / math.sqrt(self.dimension))


def _check(
    dimension: Any, combiner: str, initializer: Any, checkpoint: tuple[Any, Any], of: str
) -> None:
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if initializer is not None and not callable(initializer):
        raise ValueError(
            f"initializer must be callable if specified. Embedding of column_name: {of}"
        )
    if checkpoint != (None, None):
        raise ValueError(
            f"ckpt_to_load_from and tensor_name_in_ckpt are not supported, but the embedding of {of} got them. Leave them out, and "
            "start the estimator from the checkpoint: tf.estimator.Estimator(..., warm_start_from=path)."
        )
    check_combiner(combiner)


def embedding_column(
    categorical_column: CategoricalColumn,
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> EmbeddingColumn:
    """Gives a model a vector for each bucket of a column, from a variable that is trained.

    Args:
        categorical_column: of the buckets.
        dimension: size of the vectors.
        combiner: "mean", "sqrtn" or "sum" of the vectors of a row that is in several buckets.
        initializer: of the variable; None for a truncated normal distribution, of the standard deviation
            `1 / sqrt(dimension)`.
        max_norm: vectors that are longer are scaled down to it.
        trainable: whether it is trained.

    Raises:
        ValueError: an argument is not what it should be; or the variable is to come from a checkpoint, see
            `tf.estimator.WarmStartSettings`.

    Source: `tf.feature_column.embedding_column`.
    """
    if not isinstance(categorical_column, CategoricalColumn):
        raise ValueError(
            f"Unsupported input type. Input must be a CategoricalColumn. Given: {categorical_column}"
        )
    checkpoint = ckpt_to_load_from, tensor_name_in_ckpt
    _check(dimension, combiner, initializer, checkpoint, categorical_column.name)
    return EmbeddingColumn(
        categorical_column, dimension, combiner, initializer, max_norm, trainable
    )


def shared_embeddings(
    categorical_columns: Sequence[CategoricalColumn],
    dimension: int,
    combiner: str = "mean",
    initializer: Callable[..., Any] | None = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> list[EmbeddingColumn]:
    """Makes columns as `embedding_column` does, which have one variable together.

    What differs here: they can be made outside of graphs, too.

    Args:
        categorical_columns: of one kind, with the same buckets.
        dimension: as for `embedding_column`, like the others.
        shared_embedding_collection_name: of the variable; None makes one of the columns' names.

    Raises:
        ValueError: the columns are of several kinds, or have different numbers of buckets; or as for `embedding_column`.

    Source: `tf.feature_column.shared_embeddings`, `tf.compat.v1.feature_column.shared_embedding_columns`.
    """
    columns = list(categorical_columns)
    names = sorted(column.name for column in columns)
    of = ", ".join(names)
    _check(dimension, combiner, initializer, (ckpt_to_load_from, tensor_name_in_ckpt), of)
    kinds: set[type] = {type(_unweighted(column)) for column in columns}
    if len(kinds) != 1 or not all(issubclass(kind, CategoricalColumn) for kind in kinds):
        raise ValueError(
            "To use shared_embedding_column, all categorical_columns must have the same type, or be weighted_categorical_column "
            f"wrapping the same type. Given {sorted(kind.__name__ for kind in kinds)} of {of}."
        )
    if len({column.num_buckets for column in columns}) > 1:
        buckets = {column.name: column.num_buckets for column in columns}
        raise ValueError(
            "To use shared_embedding_column, all categorical_columns must have the same number of buckets. "
            f"Given {buckets}."
        )
    shared = shared_embedding_collection_name or f"{'_'.join(names)}_shared_embedding"
    return [
        EmbeddingColumn(column, dimension, combiner, initializer, max_norm, trainable, shared)
        for column in columns
    ]


def _unweighted(column: CategoricalColumn) -> CategoricalColumn:
    is_weighted = isinstance(column, WeightedCategoricalColumn)
    return column.categorical_column if is_weighted else column
