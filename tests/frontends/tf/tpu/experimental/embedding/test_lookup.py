"""Errors of looking features up: they name the feature."""

import pytest

from frontends import tf

embedding = tf.tpu.experimental.embedding


def test_errors_name_the_feature():
    table = embedding.TableConfig(4, 2, name="words")
    features = {"a": [embedding.FeatureConfig(table)]}
    tables = {table: tf.zeros([4, 2])}
    look_up = embedding.serving_embedding_lookup
    with pytest.raises(ValueError, match=r"Inputs keys are \['b'\], but .* keys are \['a/0'\]"):
        look_up({"b": tf.constant([1])}, None, tables, features)
    with pytest.raises(ValueError, match="Weight specified for a/0, but input is dense"):
        look_up({"a": [tf.constant([1])]}, {"a": [tf.constant([1.0])]}, tables, features)
