"""Buckets of a feature; tests/golden compares them with TensorFlow's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf import feature_column as columns
from frontends.tf.feature_column import Texts
from frontends.tf.feature_column.column import Features

TEXTS, NUMBERS = np.array([["a", ""], ["b", "c"]]), np.array([[7, -1], [8, 9]])


def in_a_program(column, values):
    """Returns the buckets, and which are there."""
    values = Texts.of(values) if values.dtype.kind == "U" else jnp.asarray(values)

    @jax.jit
    def compute(values):
        ids = column.ids(Features({"x": values}))
        return ids.values, ids.present

    return [found.tolist() for found in compute(values)]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (columns.categorical_column_with_hash_bucket("x", 100), TEXTS),
        (columns.categorical_column_with_hash_bucket("x", 100, tf.int32), NUMBERS),
        (columns.categorical_column_with_vocabulary_list("x", ["b", "a"]), TEXTS),
        (columns.categorical_column_with_vocabulary_list("x", ["b"], num_oov_buckets=9), TEXTS),
        (columns.categorical_column_with_vocabulary_list("x", [9, 7], default_value=1), NUMBERS),
        (columns.categorical_column_with_identity("x", 9, default_value=0), NUMBERS),
    ],
)
def test_a_program_gives_what_the_host_gives(column, values):
    ids = column.ids(Features({"x": values}))
    assert in_a_program(column, values) == [ids.values.tolist(), ids.present.tolist()]
    assert ids.present.tolist() == [[True, False], [True, True]]
    assert (ids.values < column.num_buckets).all()


def test_a_vocabulary_of_bytes():
    column = columns.categorical_column_with_vocabulary_list("x", [b"b", b"a"])
    assert in_a_program(column, TEXTS)[0] == [[1, -1], [0, -1]]


def test_a_file(tmp_path):
    path = tmp_path / "words"
    path.write_bytes(b"b\r\na\r\nc")
    make = columns.categorical_column_with_vocabulary_file
    column = make("x", path)
    assert in_a_program(column, TEXTS)[0] == [[1, -1], [0, 2]]
    assert make("x", path, 2, default_value=0).num_buckets == 2
    with pytest.raises(ValueError, match=r"is 4, but .* has 3 lines"):
        make("x", path, 4).ids(Features({"x": TEXTS}))
    with pytest.raises(ValueError, match="does not exist"):
        make("x", tmp_path / "other")
    with pytest.raises(ValueError, match="file_format='tfrecord_gzip'"):
        make("x", path, file_format="tfrecord_gzip")
    with pytest.raises(ValueError, match="Missing vocabulary_file"):
        make("x", "")


def test_a_number_that_is_no_bucket_is_nan():
    column = columns.categorical_column_with_identity("x", 9)

    @jax.jit
    def compute(values):
        ids = column.ids(Features({"x": values}))
        return columns.combined_rows(jnp.ones((9, 2)), ids, "mean")

    assert jnp.isnan(compute(jnp.array([[8], [9]]))).tolist() == [[False] * 2, [True] * 2]


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        (columns.categorical_column_with_identity("x", 9), TEXTS, "must be compatible"),
        (columns.categorical_column_with_hash_bucket("x", 9), NUMBERS, "dtype=tf.int32"),
        (columns.categorical_column_with_hash_bucket("x", 9), NUMBERS * 0.5, "string or integer"),
    ],
)
def test_other_types_are_refused(column, values, message):
    with pytest.raises(ValueError, match=message):
        column.ids(Features({"x": values}))


def test_a_list_of_another_type_than_the_column_is_refused():
    with pytest.raises(ValueError, match="do not match"):
        columns.categorical_column_with_vocabulary_list("x", ["a"], tf.int64)


def test_too_many_buckets_are_refused():
    with pytest.raises(ValueError, match=f"at most {2**31 - 1}"):
        columns.categorical_column_with_hash_bucket("x", 2**31)
    with pytest.raises(ValueError, match="must be set"):
        columns.categorical_column_with_hash_bucket("x", None)
