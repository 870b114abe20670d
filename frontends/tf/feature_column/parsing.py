"""What columns need of serialized examples."""

from collections.abc import Iterable
from typing import Any, TypeAlias

from frontends.tf.io.features import FixedLenFeature as FixedLenFeature
from frontends.tf.io.features import VarLenFeature as VarLenFeature

ParseSpec: TypeAlias = dict[str, FixedLenFeature | VarLenFeature]


def make_parse_example_spec(feature_columns: Iterable[Any]) -> ParseSpec:
    """Tells by key what to read from examples for columns.

    Args:
        feature_columns: the columns.

    Raises:
        ValueError: two columns need different things under the same key; or something is no column.

    Source: `tf.feature_column.make_parse_example_spec`.
    """
    found: ParseSpec = {}
    for column in feature_columns:
        spec = getattr(column, "parse_example_spec", None)
        if spec is None:
            raise ValueError(
                f"All feature_columns must be FeatureColumn instances. Given: {column}. Make one: "
                "tf.feature_column.numeric_column(key)."
            )
        for key, one in spec.items():
            if found.setdefault(key, one) != one:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {one} and {found[key]}. Give the "
                    "columns of this key the same shape, dtype and default_value."
                )
    return found
