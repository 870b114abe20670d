"""`tf.keras.layers.DenseFeatures`: feature columns as the first layer of a model."""

from collections.abc import Callable, Mapping
from typing import Any

import keras
import optree

from frontends.tf._typing import ShapeLike, VariableLike
from frontends.tf.feature_column import (
    EmbeddingColumn,
    FeatureColumn,
    Features,
    Texts,
    dense_columns,
    prepare,
)
from frontends.tf.ops.array import concat

# Keras's structures are optree's: a model may get texts among its inputs.
_register: Any = optree.register_pytree_node  # typed for collections only
_register(
    Texts,
    lambda texts: ((texts.words,), None, None),
    lambda _, words: Texts(*words),
    namespace="keras",
)


class _Table(keras.layers.Layer):
    """Has an embedding's variable, so that its name is below the layer's."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name)
        self.built = True
        self.table: Any = None


class DenseFeatures(keras.layers.Layer):
    """Joins what feature columns give, in the order of their names.

    What differs here: its variables are made with it, and their names end as TensorFlow's do,
    `dense_features/fruit_embedding/embedding_weights`.

    Examples:
        >>> from frontends import tf
        >>> age = tf.compat.v1.feature_column.numeric_column("age")
        >>> layer = DenseFeatures([tf.compat.v1.feature_column.bucketized_column(age, [18, 65])])
        >>> layer({"age": tf.constant([[20.0], [70.0]])}).tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]

    Source: `tf.keras.layers.DenseFeatures`.
    """

    def __init__(
        self,
        feature_columns: Any,
        trainable: bool = True,
        name: str | None = None,
        partitioner: object = None,
        **kwargs: Any,
    ) -> None:
        """Makes the layer.

        Args:
            feature_columns: a dense column, or several.
            trainable: whether its variables are trained.
            name: of the layer.

        Raises:
            ValueError: a column is categorical only.
        """
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._columns = tuple(dense_columns(feature_columns))
        self._text_inputs: frozenset[str] = frozenset()
        self._tables: dict[str, _Table] = {}
        with keras.name_scope(self.name, caller=self):
            for column in self._columns:
                if isinstance(column, EmbeddingColumn):
                    column.make_table(self._make_variable)
        self.built = True

    def _make_variable(
        self,
        column: FeatureColumn,
        name: str,
        shape: ShapeLike,
        initializer: Callable[..., Any],
        trainable: bool,
    ) -> VariableLike:
        """Returns a column's variable, which others may share."""
        assert isinstance(column, EmbeddingColumn)  # no others have variables
        scope = column.scope_name
        if scope not in self._tables:
            layer = self._tables[scope] = _Table(scope)
            layer.table = layer.add_weight(shape, initializer, trainable=trainable, name=name)
        return self._tables[scope].table

    def __call__(
        self,
        features: Any,
        cols_to_output_tensors: dict[Any, Any] | None = None,
        training: bool | None = None,
    ) -> Any:
        """Joins what the columns give.

        Args:
            features: of a batch, by key.
            cols_to_output_tensors: is filled with what each column gives.
            training: without effect.

        Returns:
            `[batch, size]`.

        Raises:
            ValueError: `features` is no dictionary; or a feature does not fit its column.
        """
        if isinstance(features, Mapping):
            self._text_inputs |= {key for key, one in features.items() if _is_text_input(one)}
            features = {key: self._taken_apart(key, one) for key, one in features.items()}
        # Keras mixes no texts and tensors, and copies dictionaries.
        fill = None if cols_to_output_tensors is None else cols_to_output_tensors.update
        return super().__call__(prepare(features), cols_to_output_tensors=fill)

    def _taken_apart(self, key: str, feature: Any) -> Any:
        """Makes `Texts` of texts as a functional model hands them on: their words, or texts that Keras cannot take apart."""
        if isinstance(feature, Texts):
            return Texts(feature.words)
        return Texts(feature) if key in self._text_inputs and _is_words(feature) else feature

    def call(
        self,
        features: Any,
        cols_to_output_tensors: Callable[[dict[Any, Any]], None] | None = None,
    ) -> Any:
        """Joins what the columns give, for Keras."""
        if not isinstance(features, Mapping):
            raise ValueError(
                f"We expected a dictionary here. Instead we got: {features}. Pass the features by key: layer({{'age': ages}})."
            )
        found = Features(features)
        outputs = {column: column.flat(found, self._make_variable) for column in self._columns}
        if cols_to_output_tensors is not None:
            cols_to_output_tensors(outputs)
        return concat(list(outputs.values()), 1)

    def compute_output_shape(self, input_shape: Any) -> tuple[int | None, int]:
        """Returns the shape of the result."""
        return None, sum(column.size for column in self._columns)

    def compute_output_spec(self, features: Any, *args: Any, **kwargs: Any) -> keras.KerasTensor:
        """Returns shape and dtype of the result."""
        return keras.KerasTensor(self.compute_output_shape(None), "float32")


def _is_text_input(value: Any) -> bool:
    return isinstance(value, keras.KerasTensor) and value.dtype == "string"


def _is_words(value: Any) -> bool:
    return not isinstance(value, Texts | keras.KerasTensor) and (
        str(getattr(value, "dtype", None)) == "uint32"
    )
