"""What has to be read from serialized examples for a canned estimator."""

from collections.abc import Iterable
from typing import Any

from frontends.tf._typing import DTypeLike
from frontends.tf.dtypes import as_dtype
from frontends.tf.feature_column import make_parse_example_spec
from frontends.tf.feature_column.numeric import NumericColumn, numeric_column
from frontends.tf.feature_column.parsing import FixedLenFeature, ParseSpec


def classifier_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: DTypeLike = "int64",
    label_default: Any = None,
    weight_column: Any = None,
) -> ParseSpec:
    """Tells by key what to read for a classifier: features, labels and weights.

    Args:
        feature_columns: of the classifier.
        label_key: of the labels.
        label_dtype: `tf.int64`, or `tf.string` with a vocabulary.
        label_default: where an example has no label.
        weight_column: key, or a numeric column, of weights; None for none.

    Raises:
        ValueError: a label or a weight is a feature, too; or the weights' column is of another kind.

    Source: `tf.estimator.classifier_parse_example_spec`.
    """
    label = FixedLenFeature((1,), as_dtype(label_dtype), label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: DTypeLike = "float32",
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> ParseSpec:
    """Tells by key what to read for a regressor; see `classifier_parse_example_spec`.

    Args:
        feature_columns: of the regressor.
        label_key: of the labels.
        label_dtype: of the labels.
        label_default: where an example has no label.
        label_dimension: how many numbers a label has.
        weight_column: key, or a numeric column, of weights; None for none.

    Raises:
        ValueError: see `classifier_parse_example_spec`.

    Source: `tf.estimator.regressor_parse_example_spec`.
    """
    label = FixedLenFeature((label_dimension,), as_dtype(label_dtype), label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def _with_label(
    feature_columns: Iterable[Any], label_key: str, label: FixedLenFeature, weight_column: Any
) -> ParseSpec:
    found = make_parse_example_spec(feature_columns)
    if label_key in found:
        raise ValueError(
            f"label should not be used as feature. label_key: {label_key}, features: {list(found)}"
        )
    found[label_key] = label
    if weight_column is None:
        return found
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column)
    if not isinstance(weight_column, NumericColumn):
        raise ValueError(
            f"weight_column should be an instance of tf.feature_column.numeric_column. Given type: {type(weight_column)} "
            f"value: {weight_column}"
        )
    if weight_column.key in found:
        raise ValueError(
            f"weight_column should not be used as feature. weight_column: {weight_column.key}, features: {list(found)}"
        )
    return found | weight_column.parse_example_spec
