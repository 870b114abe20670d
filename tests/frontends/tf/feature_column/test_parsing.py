"""What columns need of serialized examples; tests/golden compares it with TensorFlow's."""

import pytest

from frontends import tf
from frontends.tf import feature_column as columns
from frontends.tf.feature_column.parsing import FixedLenFeature, VarLenFeature


def test_specs_of_all_columns():
    age = columns.numeric_column("age", default_value=0.0)
    crossed = columns.crossed_column(["name", columns.bucketized_column(age, [1.0])], 5)
    assert columns.make_parse_example_spec([age, crossed]) == {
        "age": FixedLenFeature((1,), tf.float32, (0.0,)),
        "name": VarLenFeature(tf.string),
    }


def test_what_is_no_column_or_contradicts_another_is_refused():
    with pytest.raises(ValueError, match="must be FeatureColumn instances"):
        columns.make_parse_example_spec(["age"])
    two = columns.numeric_column("age"), columns.numeric_column("age", 2)
    with pytest.raises(ValueError, match="different parse_spec for key age"):
        columns.make_parse_example_spec(two)
