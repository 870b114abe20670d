"""Tables of embeddings, and the features that are looked up in them."""

import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp

from frontends.tf._typing import DTypeLike, ShapeLike
from frontends.tf.compat.v1.initializers.distributions import TruncatedNormal
from frontends.tf.dtypes import DType, as_dtype, jax_dtype
from frontends.tf.tensor_shape import TensorShape
from frontends.tf.tpu.experimental.embedding.optimizers import Optimizer

_COMBINERS = ("mean", "sum", "sqrtn")


class QuantizationConfig:
    """Buckets to which a TPU rounds embeddings; held, and without effect on lookups here, as on TensorFlow's outside of a TPU.

    Source: `tf.tpu.experimental.embedding.QuantizationConfig`.
    """

    def __init__(self, num_buckets: int, lower: float, upper: float) -> None:
        """Holds the numbers.

        Args:
            num_buckets: two or more.
            lower: the smallest embedding.
            upper: the largest one.

        Raises:
            ValueError: there is one bucket only.
        """
        if num_buckets < 2:
            raise ValueError(
                f"num_buckets is {num_buckets}, must be at least 2 for simulated quantization."
            )
        self.num_buckets, self.lower, self.upper = num_buckets, lower, upper

    def __repr__(self) -> str:
        return f"QuantizationConfig(num_buckets={self.num_buckets!r}, lower={self.lower!r}, upper={self.upper!r})"


class TableConfig:
    """A table of embeddings.

    Source: `tf.tpu.experimental.embedding.TableConfig`.
    """

    def __init__(
        self,
        vocabulary_size: int,
        dim: int,
        initializer: Callable[..., jax.Array] | None = None,
        optimizer: Optimizer | None = None,
        combiner: str = "mean",
        name: str | None = None,
        quantization_config: QuantizationConfig | None = None,
        layout: object = None,
        dtype: DTypeLike = "float32",
    ) -> None:
        """Describes the table.

        Args:
            vocabulary_size: how many rows.
            dim: size of a row.
            initializer: of the rows, from a shape and a dtype; None means truncated normal, of deviation `1 / sqrt(dim)`.
            optimizer: in place of that of all tables.
            combiner: how rows of several ids become one: `"mean"`, `"sum"` or `"sqrtn"`; a `CustomCombiner` is refused.
            name: of the variable; None means `table_` and a number.
            quantization_config: held.
            layout: held.
            dtype: held: variables have float32, as in TensorFlow.

        Raises:
            ValueError: something is not as said.
        """
        for argument, size in (("vocabulary_size", vocabulary_size), ("dim", dim)):
            if not isinstance(size, int) or size < 1:
                raise ValueError(
                    f"Argument `{argument}` must be an int and must be >= 1. Received: {size}"
                )
        if initializer is not None and not callable(initializer):
            raise ValueError(
                f"Argument `initializer` must be a callable (or None). Received: {initializer}"
            )
        if combiner not in _COMBINERS:
            raise ValueError(
                f"String argument `combiner` must be in {_COMBINERS}. Received: {combiner}"
            )
        if as_dtype(dtype) not in ("float32", "int32"):
            raise ValueError(f"Argument `dtype` must be either float32 or int32. Received: {dtype}")
        self._has_own_initializer = initializer is not None
        self.vocabulary_size, self.dim = vocabulary_size, dim
        self.initializer = initializer or TruncatedNormal(0.0, 1 / math.sqrt(dim))
        self.optimizer, self.combiner, self.name = optimizer, combiner, name
        self.quantization_config, self.layout = quantization_config, layout
        self.dtype: DType = as_dtype(dtype)

    def __repr__(self) -> str:
        initializer = self.initializer if self._has_own_initializer else None
        return (
            f"TableConfig(vocabulary_size={self.vocabulary_size!r}, dim={self.dim!r}, initializer={initializer!r}, "
            f"optimizer={self.optimizer!r}, combiner={self.combiner!r}, name={self.name!r}, "
            f"quantization_config={self.quantization_config!r})"
        )


class RowIdInitializer:
    """Gives each row its number, in all columns.

    Source: `tf.tpu.experimental.embedding.RowIdInitializer`.
    """

    def __init__(self, offset: int = 0) -> None:
        """Takes the number of the first row."""
        self.offset = offset

    def __call__(self, shape: Sequence[int], dtype: DTypeLike) -> jax.Array:
        """Computes the rows, of a shape and a dtype."""
        rows = jnp.arange(self.offset, self.offset + shape[0], dtype=jax_dtype(dtype))
        return rows[:, None] * jnp.ones(tuple(shape), jax_dtype(dtype))


class FeatureConfig:
    """A feature whose values are ids of a table's rows.

    Source: `tf.tpu.experimental.embedding.FeatureConfig`.
    """

    def __init__(
        self,
        table: TableConfig,
        max_sequence_length: int = 0,
        validate_weights_and_indices: bool = True,
        output_shape: ShapeLike = None,
        name: str | None = None,
    ) -> None:
        """Describes the feature.

        Args:
            table: where the ids are looked up.
            max_sequence_length: above zero, ids stay a sequence of this length; zero combines their rows.
            validate_weights_and_indices: whether ids and weights below zero are left out.
            output_shape: of the result, without its last axis; None means as the ids have it.
            name: held.

        Raises:
            ValueError: something is not as said.
        """
        if not isinstance(table, TableConfig):
            raise ValueError(
                f"Argument `table` has invalid type {type(table)}. "
                "Expected `tf.tpu.experimental.embedding.TableConfig`."
            )
        if not isinstance(max_sequence_length, int) or max_sequence_length < 0:
            raise ValueError(
                "Argument `max_sequence_length` must be an int and must be >= 0. "
                f"Received: {max_sequence_length}"
            )
        if not isinstance(validate_weights_and_indices, bool):
            raise ValueError(
                "Argument `validate_weights_and_indices` must be a boolean. "
                f"Received: {validate_weights_and_indices}"
            )
        self.table, self.name = table, name
        self.max_sequence_length = max_sequence_length
        self.validate_weights_and_indices = validate_weights_and_indices
        self.output_shape = TensorShape(output_shape)

    def __repr__(self) -> str:
        return (
            f"FeatureConfig(table={self.table!r}, max_sequence_length={self.max_sequence_length!r}, "
            f"validate_weights_and_indices={self.validate_weights_and_indices!r}, "
            f"output_shape={self.output_shape!r}, name={self.name!r})"
        )
